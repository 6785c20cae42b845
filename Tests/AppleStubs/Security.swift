// swift-format-ignore-file: AlwaysUseLowerCamelCase

public import Foundation

public final class SecTrust {}
public final class SecCertificate {}

public func SecTrustCopyCertificateChain(_ trust: SecTrust) -> NSArray? { nil }
public func SecCertificateCopyData(_ certificate: SecCertificate) -> Data { Data() }
