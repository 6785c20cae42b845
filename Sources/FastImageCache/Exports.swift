// Clients import `FastImageCache` only; the public words of the lower floors come with it.
@_exported public import ImageCodecs
@_exported public import ImageDrawing
@_exported public import ImageSources
@_exported public import LoadQueue
@_exported public import Pixels
