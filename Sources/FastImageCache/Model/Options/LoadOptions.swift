public import ImageSources
public import LoadQueue

/// The conditions of one request; without a change they are those of ``ImageCache/image(for:format:)``.
///
/// ```swift
/// var options = LoadOptions()
/// options.cachePolicy = .revalidate
/// options.timeout = .seconds(10)
/// ```
///
/// Requests that differ in ``scope-swift.property``, ``account``, ``headers``, ``decoderSettings`` or the networks that
/// they allow share no load.
public struct LoadOptions: Hashable, Sendable {
  /// The worth of an image that is there already.
  public enum CachePolicy: Comparable, Hashable, Sendable {
    /// An image in the table answers, and else a kept original that its server allows to be shown.
    case useCache

    /// The source is asked whether the image changed. If it did not, the image in the table
    /// answers, or the kept original where that is younger.
    case revalidate

    /// The source is asked for the image, whatever is there.
    case reload
  }

  /// The limit of a request's way to its image.
  public enum Scope: Comparable, Hashable, Sendable {
    /// Only to tables, kept originals and images that the entity has itself: never to the source, so
    /// the request never waits for a download.
    case cache

    /// To the source, too, where the URL is neither http nor https. Such a source reaches no web server by a
    /// ``URLImageSource``.
    case local

    /// Everywhere.
    case network
  }

  /// The images and originals that a load stores.
  public enum Storage: Comparable, Hashable, Sendable {
    /// Nothing: the image is drawn into private memory.
    case none

    /// The original, where the cache has a store of originals. The image is drawn into private memory.
    case originalsOnly

    /// The image, those of its family, and the original.
    case all
  }

  /// The worth of an image that is there already.
  ///
  /// Requests share a load that asks at least as much. ``CachePolicy/revalidate`` and ``CachePolicy/reload`` share none
  /// that has asked its source before. Where asking fails, the tables keep the images that they have, and the request
  /// throws.
  public var cachePolicy = CachePolicy.useCache

  /// The limit of the request's way; beyond, it throws ``ImageCacheError/notCached(entity:format:)``.
  /// Requests of different scopes share no load.
  public var scope: Scope {
    get { conditions.scope }
    set { conditions.scope = newValue }
  }

  /// Whether the request may use networks that the system takes for expensive: cellular ones and personal
  /// hotspots.
  ///
  /// Where only refused networks lead to the server, the request throws ``ImageSourceError/networkRefused``. On
  /// Linux the library's own sources cannot tell networks apart, and ask. Requests that differ share no load.
  public var allowsExpensiveNetworkAccess: Bool {
    get { !avoids.contains(.expensive) }
    set { avoids.set(.expensive, !newValue) }
  }

  /// Whether the request may use networks on which the user saves data: Low Data Mode on Apple platforms. Otherwise
  /// as ``allowsExpensiveNetworkAccess``.
  public var allowsConstrainedNetworkAccess: Bool {
    get { !avoids.contains(.constrained) }
    set { avoids.set(.constrained, !newValue) }
  }

  /// What the request's load writes; by default all. Images and originals that are there answer in any case.
  ///
  /// ```swift
  /// var once = LoadOptions()
  /// once.storage = .none
  /// ```
  ///
  /// An image that no table keeps is delivered in private memory (``CachedImage/isPrivate``), and the next request
  /// loads it again. Requests share loads whatever they want here, and the one that keeps most decides: an
  /// image is stored if any request for it that joined the load has ``Storage-swift.enum/all``, the original if any
  /// request of the load has more than ``Storage-swift.enum/none``. ``ImageCache/refresh(_:options:)`` stores
  /// all.
  public var storage = Storage.all

  /// How long the original that the load keeps is kept; as the store's ``OriginalStore/Lifetime`` says if `nil`.
  ///
  /// ```swift
  /// var brief = LoadOptions()
  /// brief.originalLifetime = LoadOptions.OriginalLifetime(.seconds(3600), renewsOnUse: false)
  /// ```
  ///
  /// Where requests share a load, the longest time counts, that of the store included if one of them says nothing; and
  /// uses renew it if they do for one of them. A request that was cancelled counts, one that joins once the original is
  /// kept does not. A revalidation in the background has the options of the first request. An original that is there
  /// already keeps its lifetime until another answer takes its place. An image in a table has the
  /// ``ImageFormat/lifetime`` of its format.
  public var originalLifetime: OriginalLifetime?

  /// The networks that the request does not allow.
  var avoids: NetworkCosts {
    get { conditions.avoids }
    set { conditions.avoids = newValue }
  }

  /// The account on whose behalf the image is loaded; `nil` for images that everyone may see. Accounts share no
  /// load and no original. They share the tables: accounts that may not see each other's images get namespaces of
  /// their own.
  public var account: AccountID? {
    get { conditions.account }
    set { conditions.account = newValue }
  }

  /// Header fields for the request to a web server, by name. ``HTTPOptions/modifyRequest`` sees them,
  /// and may change them. Requests with different fields share no load.
  ///
  /// With a store, an original that was fetched with `Authorization` or `Cookie` answers requests with the same
  /// values, and others only after its server has called it unchanged to them, unless the server says `public`.
  public var headers: [String: String] {
    get { conditions.headers }
    set { conditions.headers = newValue }
  }

  /// What ``DecodeRequest/settings`` has for a decoder of the program's own; the library's decoders know none.
  /// Requests with different settings share no load.
  ///
  /// They are no part of an image's key: an image that the table has answers, with whatever settings it was decoded.
  /// Where both results are wanted, ``ImageEntity/versionID(for:)`` or the format tells them apart.
  public var decoderSettings: [String: String] {
    get { conditions.decoderSettings }
    set { conditions.decoderSettings = newValue }
  }

  /// Scope, avoided networks, account, headers and the decoder's settings.
  private(set) var conditions = LoadConditions.ordinary

  /// The previews that ``ImageCache/updates(for:format:options:)`` and
  /// ``ImageCache/progress(for:format:options:)`` show while the image loads; none by default. The other
  /// calls make none. Requests share a load, each with previews of its own.
  public var previews = PreviewPolicy.none

  /// The other images of the entity that ``ImageCache/progress(for:format:options:)`` and
  /// ``ImageCache/updates(for:format:options:)`` show until the wanted one is there, as
  /// ``ImageCache/bestCachedImage(for:format:fallback:)`` finds them; none by default. Where one is shown
  /// that is no placeholder, ``previews`` make no coarser ones. Other calls show none, and requests share a
  /// load whatever they want here.
  public var fallback = FallbackPolicy.none

  /// Whether the image is shown only until the real one is loaded: a thumbnail at another URL, for
  /// example, of an entity with the same ``ImageEntity/imageID``.
  ///
  /// It is stored where requests for real images miss it, and
  /// ``ImageCache/bestCachedImage(for:format:fallback:)`` finds it. It takes the place of no real image, of
  /// whichever version, and a real one takes its place; the same holds for kept originals. Where a real one is
  /// stored meanwhile, the request gets its placeholder in private memory.
  ///
  /// Requests for placeholders and for real images share no load. A real image that is there answers a request
  /// for a placeholder; so does a placeholder that was stored before.
  public var isPlaceholder = false

  /// The longest wait for an image that the table does not have, before it throws
  /// ``ImageCacheError/timedOut(entity:format:after:)``; as long as it takes if `nil`.
  ///
  /// The load goes on for requests that share it, and otherwise ends.
  public var timeout: Duration?

  /// The priority of the request while it waits.
  ///
  /// A request without one has the priority of the calling task, and rises with it on Linux and on Apple
  /// platforms from version 26 on.
  public var priority: RequestPriority?

  /// Creates the conditions of an ordinary request.
  public init() {}

  /// Images of siblings and previews of whole frames, and else the conditions of an ordinary request.
  public static let previewing: LoadOptions = {
    var options = LoadOptions()
    options.previews = PreviewPolicy()
    options.fallback = FallbackPolicy()
    return options
  }()
}

extension LoadOptions.Scope {
  /// Whether a source of this need may be asked.
  func covers(_ need: LoadNeed) -> Bool {
    switch need {
    case .local: self >= .local
    case .network: self >= .network
    }
  }
}
