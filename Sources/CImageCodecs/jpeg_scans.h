#ifndef FIC_JPEG_SCANS_H
#define FIC_JPEG_SCANS_H

#include <stdbool.h>
#include <stdio.h>

#include <jpeglib.h>

// True when the scans that are complete settle a picture of one pixel a block of brightness to within
// one level of brightness and about one of each colour difference.
bool fic_jpeg_pixels_are_known(const struct jpeg_decompress_struct *codec);

// True when the file goes on, scan after scan, to its end marker; looks at markers only, and changes
// nothing. For a codec that has just completed a scan and reads from memory.
bool fic_jpeg_rest_is_whole(const struct jpeg_decompress_struct *codec);

#endif
