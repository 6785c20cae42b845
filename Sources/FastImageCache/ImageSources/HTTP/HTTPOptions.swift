/// How a ``URLImageSource`` talks to web servers.
public struct HTTPOptions: Sendable {
  /// Whether pictures may come over plain http from other machines; `false` by default.
  ///
  /// https, and http to this machine itself, are always allowed. On Apple platforms the app's
  /// transport security settings apply besides.
  public var allowsInsecureHTTP = false

  /// How long nothing may arrive; 15 seconds by default.
  ///
  /// Neither this nor ``totalTimeout`` counts the time that a load waits for its turn with a host.
  public var idleTimeout: Duration = .seconds(15)

  /// How long one load may take with all its redirects; 60 seconds by default.
  public var totalTimeout: Duration = .seconds(60)

  /// How many requests are with one host at a time, each on a connection of its own unless the host
  /// speaks HTTP/2; 6 by default, and at least one.
  ///
  /// Waiting requests follow in the order of their urgency, which may change meanwhile. They do not
  /// count among the loads under way that ``ImageCache/Configuration/networkWidth`` bounds, which is
  /// three times as many by default.
  public var connectionsPerHost = 6

  /// How many redirects one load follows; 5 by default, and at least none.
  public var redirectLimit = 5

  /// Changes each request before it is sent: headers, authorization, a signed URL; or refuses it by
  /// throwing.
  ///
  /// Called again for every redirect, with the new URL and without its former changes. So credentials
  /// that you give to hosts that you know go nowhere else. Runs off every actor.
  ///
  /// Called before the request waits for its turn with the host of the changed URL. So it may be called
  /// for many loads at once, and its changes have to stay valid while they wait.
  public var modifyRequest: (@concurrent @Sendable (HTTPRequest) async throws -> HTTPRequest)?

  /// Creates the default options.
  public init() {}
}
