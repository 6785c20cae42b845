#ifndef FIC_JPEG_SCANS_H
#define FIC_JPEG_SCANS_H

#include <stdbool.h>
#include <stdio.h>

#include <jpeglib.h>

// True when the scans that are complete settle a picture of one pixel a block to within one level
// of brightness and of each colour difference. Such a picture is made of the blocks' means alone.
bool fic_jpeg_means_are_known(const struct jpeg_decompress_struct *codec);

// True when the file goes on, scan after scan, to its end marker; looks at markers only, and changes
// nothing. For a codec that has just completed a scan and reads from memory.
bool fic_jpeg_rest_is_whole(const struct jpeg_decompress_struct *codec);

#endif
