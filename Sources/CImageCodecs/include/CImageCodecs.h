// Flat functions over libjpeg-turbo, libpng, libwebp and Little CMS, for Linux; and over giflib,
// libavif and libheif, where traits of the package ask for them.
//
// Rules that every function here keeps:
// 1. A setjmp stands in the function that calls into libjpeg or libpng, so no longjmp leaves this
//    target, and no Swift code runs between the two. Work is cut into strips of rows: between two
//    calls the caller decides whether to go on.
// 2. Failure is a returned status; the text belongs to the reader or writer and lives as long.
// 3. After a failure the caller may only read the text and close the object.
// 4. An object serves one thread at a time and keeps the caller's bytes by address: they must stay
//    in place until it is closed.

#ifndef CIMAGECODECS_H
#define CIMAGECODECS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FIC_ENUM enum __attribute__((enum_extensibility(closed)))
#define FIC_SWIFT(name) __attribute__((swift_name(#name)))

typedef FIC_ENUM {
  FIC_OK FIC_SWIFT(ok) = 0,
  FIC_TRUNCATED FIC_SWIFT(truncated),
  FIC_DAMAGED FIC_SWIFT(damaged),
  FIC_UNSUPPORTED FIC_SWIFT(unsupported),
  FIC_TOO_LARGE FIC_SWIFT(tooLarge),
  FIC_OUT_OF_MEMORY FIC_SWIFT(outOfMemory),
  FIC_CANCELLED FIC_SWIFT(cancelled)
} fic_status;

// Rows as PNG and WebP writers take them: one gray byte a pixel; B, G, R, unused; B, G, R, not
// multiplied by alpha, alpha; or, for PNG only, one index a pixel into a palette.
typedef FIC_ENUM {
  FIC_ROWS_GRAY FIC_SWIFT(gray),
  FIC_ROWS_BGRX FIC_SWIFT(bgrx),
  FIC_ROWS_BGRA FIC_SWIFT(bgra),
  FIC_ROWS_INDEXED FIC_SWIFT(indexed)
} fic_rows_kind;

// JPEG

typedef struct fic_jpeg_reader fic_jpeg_reader;

typedef FIC_ENUM {
  FIC_JPEG_GRAY FIC_SWIFT(gray),
  FIC_JPEG_COLOR FIC_SWIFT(color),
  FIC_JPEG_CMYK FIC_SWIFT(cmyk)
} fic_jpeg_kind;

typedef struct {
  uint32_t width, height;
  fic_jpeg_kind kind;
  bool has_several_scans;       // all coefficients are kept until the last scan
  uint64_t coefficient_bytes;   // what keeping them takes
} fic_jpeg_header;

// Returns null when there is no memory.
fic_jpeg_reader *fic_jpeg_reader_create(void);

// Lends the memory for all coefficients, as many bytes as the header says, from before the start until
// the reader is closed. For a file of several scans, which is too large without.
void fic_jpeg_lend(fic_jpeg_reader *reader, void *memory, size_t byte_count);
void fic_jpeg_reader_close(fic_jpeg_reader *reader);
const char *fic_jpeg_reader_message(const fic_jpeg_reader *reader);

fic_status fic_jpeg_read_header(
    fic_jpeg_reader *reader, const uint8_t *bytes, size_t count, fic_jpeg_header *header);

// Prepares for output at `eighths` / 8 of the size, where `eighths` is 1, 2, 4 or 8. Colours that are
// stored more coarsely than brightness are interpolated between pixels, or repeated, which is
// faster. With `shows_part` the file may be cut or damaged from here on: missing pixels are gray, and of several scans
// those that came are shown. `memory_limit` bounds libjpeg's own memory, in bytes.
fic_status fic_jpeg_start(
    fic_jpeg_reader *reader, uint32_t eighths, bool interpolates_colors, bool shows_part,
    uint32_t scan_limit,
    size_t memory_limit, uint32_t *width, uint32_t *height);

// For images of several scans, to be called until `complete`: takes in up to `steps` rows of
// blocks. At an eighth of the size it takes in the scans up to the last one that is visible there;
// of later scans only the markers are read. A file without its end marker is taken in to its end, and is an
// error unless every bit has come.
fic_status fic_jpeg_take_in(fic_jpeg_reader *reader, uint32_t steps, bool *complete);

// Writes the next rows: one gray byte a pixel, or B, G, R, 255, or the four inks as stored. The last row proves
// that every block is there, and that the blocks leave over nothing but padding before the next marker.
fic_status fic_jpeg_read_rows(
    fic_jpeg_reader *reader, uint8_t *rows, size_t row_bytes, uint32_t count);

// Whether damage was met so far, where parts are shown.
bool fic_jpeg_is_damaged(const fic_jpeg_reader *reader);

// Leaves out columns before the first row is read. The first one moves to the left, to a border of blocks,
// and their number grows by as much. Where colours are interpolated, the outermost columns on both sides
// differ from those of the whole image.
fic_status fic_jpeg_keep_columns(fic_jpeg_reader *reader, uint32_t *first, uint32_t *count);

// Passes over rows. Their bytes are read, so that damage is found, but no pixels are made of them.
fic_status fic_jpeg_skip_rows(fic_jpeg_reader *reader, uint32_t count);

typedef struct fic_jpeg_writer fic_jpeg_writer;

fic_jpeg_writer *fic_jpeg_writer_create(void);
void fic_jpeg_writer_close(fic_jpeg_writer *writer);
const char *fic_jpeg_writer_message(const fic_jpeg_writer *writer);

// Rows are one gray byte a pixel or B, G, R, unused; `quality` is 1 to 100. A null profile means sRGB.
fic_status fic_jpeg_begin(
    fic_jpeg_writer *writer, uint32_t width, uint32_t height, bool gray, int quality,
    bool progressive, const uint8_t *profile, uint32_t profile_count);
fic_status fic_jpeg_write_row(fic_jpeg_writer *writer, const uint8_t *row);

// Hands over the encoded bytes, which the caller frees with free(3).
fic_status fic_jpeg_end(fic_jpeg_writer *writer, uint8_t **bytes, size_t *count);

// PNG

typedef struct fic_png_reader fic_png_reader;

typedef struct {
  uint32_t width, height;
  uint32_t bytes_per_pixel;   // 1 gray; 4 B, G, R, alpha
  bool has_alpha;             // otherwise the fourth byte is 255
  bool is_gray;               // as stored: with alpha B, G and R are the same
  bool interlaced;
  const uint8_t *profile;     // ICC, or null; lives as long as the reader
  size_t profile_count;
} fic_png_header;

// Where the chunks begin that are read, as offsets; 0 for one that is left out. They may stand in any order, and
// chunks with pixels follow the first one without a gap.
typedef struct {
  size_t profile, palette, transparency, pixels;
} fic_png_chunks;

fic_png_reader *fic_png_reader_create(void);
void fic_png_reader_close(fic_png_reader *reader);
const char *fic_png_reader_message(const fic_png_reader *reader);

// Reads the header, which the file begins with, and the chunks up to the first row. Sides above `side_limit` and chunks
// that take more than `chunk_limit` bytes of memory are refused. With `is_cut` the rows of an interlaced image are
// those of its passes, as stored.
fic_status fic_png_start(
    fic_png_reader *reader, const uint8_t *bytes, size_t count, fic_png_chunks chunks,
    uint32_t side_limit, size_t chunk_limit, bool is_cut, fic_png_header *header);

// The columns and rows of one of seven passes, from 0 on; a pass that has none is not stored.
void fic_png_pass_size(
    uint32_t width, uint32_t height, uint32_t pass, uint32_t *columns, uint32_t *rows);

// Writes the next rows, colours not multiplied by alpha. An interlaced image has seven passes:
// each gives the same rows of the same whole image again. A row takes the memory of a row of the whole
// image, those of passes too. What the file has behind the last row is ignored. With `fills_blocks` each pixel
// of a pass is written to the places of those of later passes, too.
fic_status fic_png_read_rows(
    fic_png_reader *reader, uint8_t *rows, size_t row_bytes, uint32_t count, bool fills_blocks);

typedef struct fic_png_writer fic_png_writer;

fic_png_writer *fic_png_writer_create(void);
void fic_png_writer_close(fic_png_writer *writer);
const char *fic_png_writer_message(const fic_png_writer *writer);

// Sets 1 to 256 colours before the beginning: B, G, R, not multiplied by alpha, alpha.
fic_status fic_png_set_palette(fic_png_writer *writer, const uint8_t *colors, uint32_t count);

// A null profile means sRGB.
fic_status fic_png_begin(
    fic_png_writer *writer, uint32_t width, uint32_t height, fic_rows_kind rows,
    const uint8_t *profile, size_t profile_count);
fic_status fic_png_write_row(fic_png_writer *writer, const uint8_t *row);

// Hands over the encoded bytes, which the caller frees with free(3).
fic_status fic_png_end(fic_png_writer *writer, uint8_t **bytes, size_t *count);

// WebP

typedef struct fic_webp_reader fic_webp_reader;

typedef struct {
  uint32_t width, height;   // of the canvas
  uint32_t frame_x, frame_y, frame_width, frame_height;
  bool has_alpha;           // of the first frame on its canvas
  bool is_lossless;
  bool is_cut;              // bytes of the first frame are missing, or the turn that is announced
  size_t frame_count;       // encoded bytes of the first frame
  const uint8_t *profile;
  size_t profile_count;
  const uint8_t *exif;
  size_t exif_count;
} fic_webp_header;

fic_webp_reader *fic_webp_reader_create(void);
void fic_webp_reader_close(fic_webp_reader *reader);

// With `may_be_cut` the file may end within its first frame, or before its turn.
fic_status fic_webp_read_header(
    fic_webp_reader *reader, const uint8_t *bytes, size_t count, bool may_be_cut,
    fic_webp_header *header);

// Takes the encoded bytes of one frame without its container, instead of a file. A frame that is not of that size is
// damaged.
fic_status fic_webp_take_frame(
    fic_webp_reader *reader, const uint8_t *bytes, size_t count, uint32_t width, uint32_t height,
    bool *has_alpha);

// Prepares to write the first frame, or the one that was taken, scaled to `width` times `height`, to `rows`, which must stay
// in place until the reader is closed: B, G, R multiplied by alpha, alpha.
fic_status fic_webp_start(
    fic_webp_reader *reader, uint8_t *rows, size_t row_bytes, size_t byte_count, uint32_t width,
    uint32_t height);

// Decodes the first `count` bytes of the frame; each call needs a larger count.
fic_status fic_webp_decode(fic_webp_reader *reader, size_t count, bool *complete);

// How many rows are written, after decoding has failed.
uint32_t fic_webp_rows_written(fic_webp_reader *reader);

typedef struct fic_webp_writer fic_webp_writer;

fic_webp_writer *fic_webp_writer_create(void);
void fic_webp_writer_close(fic_webp_writer *writer);
const char *fic_webp_writer_message(const fic_webp_writer *writer);

// `quality` is 0 to 100: of the image, or of the search where nothing is lost.
fic_status fic_webp_begin(
    fic_webp_writer *writer, uint32_t width, uint32_t height, fic_rows_kind rows, bool lossless,
    float quality);

// Takes a copy of the row; the work is done at the end.
fic_status fic_webp_write_row(fic_webp_writer *writer, const uint8_t *row);

// Hands over the encoded bytes, which the caller frees with free(3).
fic_status fic_webp_end(fic_webp_writer *writer, uint8_t **bytes, size_t *count);

// GIF, frame by frame

typedef struct fic_gif_reader fic_gif_reader;

typedef struct {
  uint32_t width, height;   // of the screen, or of a screen that the frame fits into
  uint32_t frame_x, frame_y, frame_width, frame_height;
  bool has_alpha;           // of the frame on the empty screen
  bool interlaced;
  bool is_transparent;      // the frame has a transparent index
  bool is_end;              // there is no frame, but the end of the file
  uint32_t delay;           // in hundredths of a second
  uint32_t disposal;        // as stored, of three bits
} fic_gif_header;

fic_gif_reader *fic_gif_reader_create(void);
void fic_gif_reader_close(fic_gif_reader *reader);
const char *fic_gif_reader_message(const fic_gif_reader *reader);

// Reads up to the first frame's pixels.
fic_status fic_gif_read_header(
    fic_gif_reader *reader, const uint8_t *bytes, size_t count, fic_gif_header *header);

// Passes over the frame, of which rows may have been read, and gives the offset of the blocks behind it.
fic_status fic_gif_pass_frame(const fic_gif_reader *reader, size_t *next);

// How often the animation is repeated after its first play, 0 for ever; negative where the blocks so far say nothing.
int32_t fic_gif_repeats(const fic_gif_reader *reader);

// Goes on with the frame whose blocks begin at that offset.
fic_status fic_gif_take_frame(fic_gif_reader *reader, size_t offset, fic_gif_header *header);

// Writes the frame's next row in the order of the file: B, G, R, alpha; transparent pixels are all
// zero. The last row proves that the frame is whole.
fic_status fic_gif_read_row(fic_gif_reader *reader, uint8_t *row);

// AVIF

typedef struct fic_avif_reader fic_avif_reader;

typedef struct {
  uint32_t width, height;    // of the part that is shown, before it is turned
  uint32_t orientation;      // 1 to 8 as in EXIF, of the container's own rotation and mirroring
  bool has_alpha;
  uint64_t decoded_pixels;   // of the whole stored image
  uint64_t working_bytes;    // of decoding, without the rows that are written
  uint32_t frames;           // 1 for a still
  int32_t repeats;           // after the first play; negative for ever
  uint16_t primaries, transfer;   // ITU-T H.273, for files without a profile
  const uint8_t *profile;    // ICC, or null; stays until the next call
  size_t profile_count;
} fic_avif_header;

fic_avif_reader *fic_avif_reader_create(void);
void fic_avif_reader_close(fic_avif_reader *reader);
const char *fic_avif_reader_message(const fic_avif_reader *reader);

// Reads the container and nothing of the image. The decode refuses images of more pixels than
// `pixel_limit`, whatever the container says. With `may_be_cut` bytes of frames may be missing.
fic_status fic_avif_read_header(
    fic_avif_reader *reader, const uint8_t *bytes, size_t count, uint64_t pixel_limit,
    bool may_be_cut, fic_avif_header *header);

// The number of first frames of which no byte is missing. Takes a step for each pair of frames that share a key frame.
uint32_t fic_avif_whole_frames(const fic_avif_reader *reader);

// How long a frame is shown, in seconds.
double fic_avif_duration(const fic_avif_reader *reader, uint32_t frame);

// Decodes the next frame on the calling thread, and fills in the colours, which the container may not name.
fic_status fic_avif_decode(fic_avif_reader *reader, fic_avif_header *header);

// Writes rows of the part that is shown, each after the one before: B, G, R multiplied by alpha, alpha.
fic_status fic_avif_write_rows(
    fic_avif_reader *reader, uint8_t *rows, size_t row_bytes, uint32_t first, uint32_t count);

// HEIF, of several images the primary one

typedef struct fic_heif_reader fic_heif_reader;

typedef struct {
  uint32_t width, height;    // upright
  uint32_t coded_width, coded_height;   // before the image is cropped and turned
  uint32_t item;             // its number in the container
  bool has_alpha;
  uint16_t primaries, transfer;   // ITU-T H.273, for files without a profile; 0 for none
  const uint8_t *profile;    // ICC, or null; stays until the next call
  size_t profile_count;
} fic_heif_header;

fic_heif_reader *fic_heif_reader_create(void);
void fic_heif_reader_close(fic_heif_reader *reader);
const char *fic_heif_reader_message(const fic_heif_reader *reader);

// Reads the container and nothing of the image; cancelled once the process ends, which waits up to two
// seconds for readers to be closed.
fic_status fic_heif_read_header(
    fic_heif_reader *reader, const uint8_t *bytes, size_t count, fic_heif_header *header);

// Decodes; libheif refuses images with a longer side. libde265 believes the sizes inside of the
// image, which the caller has looked at before. With `turns` libheif crops and turns, which takes a second
// image; otherwise rows are as they are coded. An image that is not of that size is damaged.
fic_status fic_heif_decode(
    fic_heif_reader *reader, uint32_t side_limit, bool turns, uint32_t width, uint32_t height);

// Writes rows of the decoded image: B, G, R multiplied by alpha, alpha.
fic_status fic_heif_write_rows(
    fic_heif_reader *reader, uint8_t *rows, size_t row_bytes, uint32_t first, uint32_t count);

// SVG, by librsvg, which the first reader loads

typedef struct fic_svg_reader fic_svg_reader;

fic_svg_reader *fic_svg_reader_create(void);
void fic_svg_reader_close(fic_svg_reader *reader);
const char *fic_svg_reader_message(const fic_svg_reader *reader);

// Reads the whole file, and gives the size that it names in pixels, or only its proportions. Unsupported where librsvg
// cannot be loaded.
fic_status fic_svg_read_header(
    fic_svg_reader *reader, const uint8_t *bytes, size_t count, double *width, double *height);

// Draws the image over all of these rows: B, G, R multiplied by alpha, alpha.
fic_status fic_svg_draw(
    fic_svg_reader *reader, uint8_t *rows, size_t row_bytes, uint32_t width, uint32_t height);

// BMP, ICO and TIFF, by gdk-pixbuf, which the first reader loads

typedef struct fic_pixbuf_reader fic_pixbuf_reader;

typedef FIC_ENUM {
  FIC_PIXBUF_OPAQUE FIC_SWIFT(opaque),
  FIC_PIXBUF_SEPARATE FIC_SWIFT(separate),       // colours are not multiplied by alpha
  FIC_PIXBUF_MULTIPLIED FIC_SWIFT(multiplied)
} fic_pixbuf_alpha;

fic_pixbuf_reader *fic_pixbuf_reader_create(void);
void fic_pixbuf_reader_close(fic_pixbuf_reader *reader);
const char *fic_pixbuf_reader_message(const fic_pixbuf_reader *reader);

// Begins a file of that kind, which is gdk-pixbuf's name of a loader: no other one sees the bytes. An image of another
// size takes no memory and is truncated at the end. Unsupported where gdk-pixbuf, or that loader, cannot be loaded.
fic_status fic_pixbuf_begin(
    fic_pixbuf_reader *reader, const char *kind, uint32_t width, uint32_t height);

// Takes the next bytes of the file, and no longer needs them afterwards.
fic_status fic_pixbuf_write(fic_pixbuf_reader *reader, const uint8_t *bytes, size_t count);

// Says that the file ends. TIFF is decoded here.
fic_status fic_pixbuf_end(fic_pixbuf_reader *reader);

// Writes rows of the decoded image: B, G, R multiplied by alpha, alpha.
void fic_pixbuf_read_rows(
    const fic_pixbuf_reader *reader, uint8_t *rows, size_t row_bytes, uint32_t first, uint32_t count,
    fic_pixbuf_alpha alpha);

// Colour

typedef struct fic_color_transform fic_color_transform;

typedef FIC_ENUM {
  FIC_COLOR_GRAY FIC_SWIFT(gray),           // one byte to one byte
  FIC_COLOR_GRAY_AS_COLOR FIC_SWIFT(grayAsColor),   // B, G, R, all the same, and an untouched byte
  FIC_COLOR_RGB FIC_SWIFT(rgb),            // B, G, R and an untouched byte, to the same
  FIC_COLOR_CMYK FIC_SWIFT(cmyk)            // four inks as JPEG stores them, 0 is full, to B, G, R, 255
} fic_color_kind;

typedef FIC_ENUM {
  FIC_SPACE_SRGB FIC_SWIFT(sRGB),
  FIC_SPACE_DISPLAY_P3 FIC_SWIFT(displayP3)
} fic_color_space;

// Builds the transform from a profile to a space; one of inks leads to every space. Null with `FIC_OK` when nothing
// would change. `FIC_DAMAGED` when the profile is broken, or is not of that kind.
fic_status fic_color_create(
    const uint8_t *profile, size_t count, fic_color_kind kind, fic_color_space space,
    fic_color_transform **transform);
void fic_color_close(fic_color_transform *transform);

// Converts pixels in place; any number of threads may do so with one transform. `space` is the one that the
// transform was built for, and any for inks.
void fic_color_apply(
    const fic_color_transform *transform, uint8_t *pixels, size_t count, fic_color_space space);

typedef FIC_ENUM {
  FIC_CURVE_PARAMETRIC FIC_SWIFT(parametric),   // ICC.1:2022, section 10.18, function 3
  FIC_CURVE_PQ FIC_SWIFT(pq),     // cut at the reference white of ITU-R BT.2408
  FIC_CURVE_HLG FIC_SWIFT(hlg)    // the same
} fic_color_curve;

// Makes the ICC profile of a red, green and blue light and a white, each x and y of CIE 1931, or of gray where they are
// null. `parameters` are g, a, b, c and d of a parametric curve. Equal arguments make equal bytes, which the caller frees
// with free(3). `name` is ASCII, or null. `FIC_DAMAGED` when the three lights do not span a space.
fic_status fic_color_make_profile(
    const double *chromaticities, fic_color_curve curve, const double *parameters,
    const char *name, uint8_t **bytes, size_t *count);

// Rows of pixels

// Multiplies B, G, R by alpha in place, rounding to nearest.
void fic_rows_premultiply(uint8_t *pixels, size_t count);

// Lays pixels over others: both B, G, R multiplied by alpha, alpha.
void fic_rows_blend(const uint8_t *pixels, uint8_t *target, size_t count);

// Turns packed gray bytes, which lie at the start of the row, into B, G, R, 255 in place.
void fic_rows_gray_to_bgrx(uint8_t *row, size_t count);

// Turns four inks, of which 0 is full, into B, G, R, 255 in place, each ink absorbing light independently.
void fic_rows_cmyk_to_bgrx(uint8_t *pixels, size_t count);

// Adds one row to a row of sums, `factor` pixels to a sum.
void fic_rows_add(
    uint32_t *sums, const uint8_t *row, size_t width, uint32_t factor, uint32_t bytes_per_pixel);

// Writes the averages of `rows` added rows and clears the sums.
void fic_rows_average(
    uint32_t *sums, uint8_t *result, size_t width, uint32_t factor, uint32_t rows,
    uint32_t bytes_per_pixel);

// Lays `rows` stored rows, the first of them number `first` of a stored image of `width` times
// `height`, into the upright image; `orientation` is 1 to 8 as in EXIF 2.32, tag 0x0112.
void fic_rows_place(
    const uint8_t *stored, size_t stored_row_bytes, uint32_t first, uint32_t rows, uint32_t width,
    uint32_t height, uint8_t *upright, size_t upright_row_bytes, uint32_t bytes_per_pixel,
    uint32_t orientation);

#endif
