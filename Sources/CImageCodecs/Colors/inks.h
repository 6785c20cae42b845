#ifndef FIC_INKS_H
#define FIC_INKS_H

#include "CImageCodecs.h"

#include <lcms2.h>

// The way from inks to each colour space: Little CMS's table leads to CIE L*a*b*, the rest is worked out.
typedef struct fic_inks fic_inks;

// For inks of which 0 is full. Null when there is no memory, or Little CMS finds no way. All is in the memory of the profile's context.
fic_inks *fic_inks_create(cmsHPROFILE profile);
void fic_inks_close(fic_inks *inks);
void fic_inks_apply(
    const fic_inks *inks, uint8_t *pixels, size_t count, fic_color_space space);

#endif
