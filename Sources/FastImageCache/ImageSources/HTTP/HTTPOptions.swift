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
  /// Those that wait come in the order of their urgency, which may change while they wait. They do not
  /// count among the loads under way that ``ImageCache/Configuration/networkWidth`` bounds, which is
  /// three times as many by default.
  public var connectionsPerHost = 6

  /// How many redirects one load follows; 5 by default, and at least none.
  public var redirectLimit = 5

  /// Changes each request before it is sent: headers, authorization, a signed URL; or refuses it by
  /// throwing.
  ///
  /// It is asked again for every redirect, with the new URL, and what it added before is gone; so
  /// give credentials to hosts that you know, and they go nowhere else. Runs off every actor.
  ///
  /// It is asked before the request waits for its turn with the host, which the new URL names. So it
  /// may be asked for many loads at once, and what it adds has to stay valid while they wait.
  public var modifyRequest: (@concurrent @Sendable (HTTPRequest) async throws -> HTTPRequest)?

  /// Creates the default options.
  public init() {}
}
