#if SVG && !canImport(ImageIO)
  import Foundation
  import Pixels
  import Testing

  @testable import ImageCodecs

  @Suite("The markup of an SVG file", .timeLimit(.minutes(5)))
  struct SVGMarkupTests {
    private func svg(_ content: String, _ attributes: String = "") -> String {
      #"<svg xmlns="http://www.w3.org/2000/svg" width="40" height="20" \#(attributes)>\#(content)</svg>"#
    }

    private func markup(_ text: String) throws -> SVGMarkup {
      try Data(text.utf8).withUnsafeBytes { try SVGMarkup($0) }
    }

    /// The file is refused before librsvg reads it, and not for a fault of its XML.
    private func expectRefusal(_ text: String) {
      do {
        _ = try markup(text)
        Issue.record("It is accepted.")
      } catch ImageDecodingError.unsupported, ImageDecodingError.tooLarge {
      } catch {
        Issue.record("\(error)")
      }
    }

    @Test(
      "may be an icon of Inkscape, Illustrator or Figma",
      arguments: [
        ##"""
        <?xml version="1.0" encoding="UTF-8" standalone="no"?>
        <!-- Created with Inkscape (http://www.inkscape.org/) -->
        <svg xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:cc="http://creativecommons.org/ns#"
          xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:svg="http://www.w3.org/2000/svg"
          xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"
          xmlns:sodipodi="http://sodipodi.sourceforge.net/DTD/sodipodi-0.dtd"
          xmlns:inkscape="http://www.inkscape.org/namespaces/inkscape" width="16px" height="16px"
          sodipodi:docname="Größe.svg" inkscape:export-filename="C:\icons\a.png">
          <defs id="defs2"><linearGradient id="a"><stop offset="0" style="stop-color:#000"/></linearGradient>
            <linearGradient id="b" xlink:href="#a" gradientUnits="userSpaceOnUse"/>
            <inkscape:path-effect effect="bspline" id="c"/></defs>
          <sodipodi:namedview id="base" pagecolor="#ffffff"><inkscape:grid type="xygrid"/></sodipodi:namedview>
          <metadata id="d"><rdf:RDF><cc:Work rdf:about=""><dc:format>image/svg+xml</dc:format>
            <dc:type rdf:resource="http://purl.org/dc/dcmitype/StillImage"/></cc:Work></rdf:RDF></metadata>
          <g inkscape:label="Layer&#10;1" inkscape:groupmode="layer" id="layer1">
            <path style="color:#000;font-family:&quot;Sans&quot;;fill:url(#b);stroke-dasharray:none;marker:none;color-interpolation-filters:linearRGB;filter:none ;enable-background:accumulate" d="M 0,0 h 9 z" id="e"/>
            <use xlink:href="#e" transform="translate(4)"/></g>
        </svg>
        """##,
        ##"""
        <?xml version="1.0" encoding="iso-8859-1"?>
        <!-- Generator: Adobe Illustrator 19.0.0, SVG Export Plug-In -->
        <!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd" [
          <!ENTITY ns_extend "http://ns.adobe.com/Extensibility/1.0/">
          <!ENTITY ns_svg "http://www.w3.org/2000/svg">
          <!ENTITY st0 "fill:#FFFFFF;">
        ]>
        <svg version="1.1" id="Layer_1" xmlns:x="&ns_extend;" xmlns="&ns_svg;" x="0px" y="0px"
          viewBox="0 0 24 24" style="enable-background:new 0 0 24 24;" xml:space="preserve" x:a="&#38;">
        <style type="text/css"><![CDATA[
          .st0{clip-path:url(#SVGID_2_);} .mask,.st1 > path{fill:#FFF; fill-rule:evenodd}
        ]]></style>
        <g class="mask"><defs><rect id="SVGID_1_" width="24" height="24"/></defs>
        <clipPath id="SVGID_2_"><use xlink:href="#SVGID_1_" xmlns:xlink="http://www.w3.org/1999/xlink" style="overflow:visible;"/></clipPath>
        <path class="st0" style="&st0;" d="M12,0z"/><text font-family="&apos;Arial&apos;">A &amp; B</text></g></svg>
        """##,
        ##"""
        <svg width="24" height="24" viewBox="0 0 24 24" fill="none" xmlns="http://www.w3.org/2000/svg">
        <g clip-path="url(#clip0_1_2)"><path fill-rule="evenodd" d="M0 0h24v24z" fill="url(#paint0_linear)"/></g>
        <defs><linearGradient id="paint0_linear" x1="0" gradientUnits="userSpaceOnUse"><stop stop-color="#fff"/>
        </linearGradient><clipPath id="clip0_1_2"><rect width="24" height="24" fill="white"/></clipPath></defs>
        </svg>
        """##,
      ])
    func accepts(file: String) throws {
      #expect(try markup(file).depth > 2)
      #expect(
        try ImageDecoders.standard.decoder(for: Data(file.utf8)).header(of: Data(file.utf8)).size
          .width > 0)
    }

    @Test("passes over what is no markup")
    func passesOver() throws {
      let content =
        "<!-- <image/> --><desc><![CDATA[<filter/>]]></desc><g id=\">'\" /><?xpacket <mask/> ?>"
      #expect(try markup(svg(content)).depth == 2)
    }

    @Test("names no element that it does not know")
    func refusesElements() {
      for name in [
        "image", "filter", "pattern", "mask", "marker", "foreignObject", "script", "svg:image",
        "Image",
      ] {
        expectRefusal(svg("<\(name)/>"))
      }
      expectRefusal(svg("<g\n><filter\t/></g>"))
      expectRefusal(svg("<style>a{}<g/></style>"))
    }

    @Test("gives SVG no other prefix, and includes nothing")
    func refusesPrefixes() {
      for element in [
        #"<s:image xmlns:s="http://www.w3.org/2000/svg"/>"#, "<s:image/>",
        #"<s:g xmlns:s="a"/><s:image/>"#,
        #"<s:image xmlns:s="http://www.w3.org/XML/1998/namespace"/>"#,
        #"<s:image xmlns:s="http://www.w3.org/2000/xmlns/"/>"#, #"<xmlns:image xmlns:xmlns="a"/>"#,
        #"<s:image xmlns:s=""/>"#, #"<s:image xmlns:s="http://www.w3.org/2000/sv&#103;"/>"#,
        ##"<g s:mask="url(#m)"/>"##,
        #"<x:include xmlns:x="http://www.w3.org/2001/XInclude" parse="xml" href="data:a"/>"#,
        #"<g xmlns="http://www.w3.org/2001/XInclude"/>"#,
      ] {
        expectRefusal(svg(element))
      }
    }

    @Test(
      "has addresses within the file alone",
      arguments: [
        ##"use href="data:image/svg+xml,a#a""##, ##"use href="file:///a.svg#a""##,
        ##"use href="""##,
        ##"use xlink:href="a.svg#a" xmlns:xlink="http://www.w3.org/1999/xlink""##,
        ##"use href="&#35;a""##, ##"use href="#a#b""##, ##"use href="#%61""##,
        ##"rect fill="url(data:a)""##, ##"rect fill="URL( 'data:a#a' )""##,
        ##"rect fill="u&#114;l(data:a)""##,
        ##"rect fill="u\72l(data:a)""##, ##"rect fill="url(#a#b)""##,
        ##"rect fill="url(#a) url(data:b)""##,
        ##"rect style="fill:url(data:a)""##, ##"rect style="fill:u&#114;l(data:a)""##,
      ])
    func refusesAddress(element: String) { expectRefusal(svg("<\(element)/>")) }

    @Test(
      "has no style with masks, markers, filters, dashes or other files",
      arguments: [
        "mask:url(#m)", "MASK : url(#m)", "a:b;marker-mid:url(#m)", "marker/**/:url(#m)",
        "filter:blur(9px)",
        "stroke-dasharray:.3", "stroke-dasharray:none,1", #"m\61sk:url(#m)"#, "mask:nonesuch",
      ])
    func refusesStyle(declarations: String) throws {
      expectRefusal(svg(#"<g style="\#(declarations)"/>"#))
      expectRefusal(svg("<style>a{\(declarations)}</style>"))
      expectRefusal(svg("<svg:style>a{}</svg:style><style><![CDATA[a{\(declarations)}]]></style>"))
      let parts = declarations.split(separator: ":", maxSplits: 1)
      if !declarations.contains(where: { ";/\\ ".contains($0) }) {
        expectRefusal(svg(#"<g \#(parts[0].lowercased())="\#(parts[1])"/>"#))
        expectRefusal(
          svg("<style>a{\(declarations.prefix(2))<!-- -->\(declarations.dropFirst(2))}</style>"))
      }
    }

    @Test(
      "has no selector that costs by the square",
      arguments: [
        "@import 'data:text/css,a';", "a~b{}", "a+b{}", "a:nth-child(2n){}", "a:not(b){}", "[a]{}",
        "a{b{}}", "a}",
        "/*{*/a~b/*}*/{}", "&amp;{}", String(repeating: "a{}", count: 501),
        String(repeating: "a,", count: 501),
      ])
    func refusesSelector(style: String) { expectRefusal(svg("<style>\(style)</style>")) }

    @Test("has few elements, clips and uses, none of which draws another")
    func isBounded() throws {
      func nested(_ count: Int) -> String {
        String(repeating: "<g>", count: count) + String(repeating: "</g>", count: count)
      }
      #expect(try markup(svg(nested(47))).depth == 48)
      expectRefusal(svg(nested(48)))
      expectRefusal(svg(String(repeating: "<g/>", count: 20_000)))
      let use = ##"<use href="#a"/>"##
      #expect(try markup(svg(String(repeating: use, count: 64))).useCount == 64)
      expectRefusal(svg(String(repeating: use, count: 65)))
      for holder in [##"<g id="a">\##(use)</g>"##, ##"<use id="a" href="#b"/>\##(use)"##] {
        expectRefusal(svg(holder))
      }
      for clip in [##"<g clip-path="url(#c)"/>"##, ##"<g style="clip-path:url(#c)"/>"##] {
        #expect(try markup(svg(String(repeating: clip, count: 16))).depth == 2)
        expectRefusal(svg(String(repeating: clip, count: 17)))
      }
    }

    @Test(
      "has a document type of short texts alone",
      arguments: [
        (##"[<!ENTITY a "&#60;image/>">]"##, "utf-8"), (#"[<!ENTITY a "<image/>">]"#, "utf-8"),
        (#"[<!ENTITY a "aa"><!ENTITY b "&a;&a;">]"#, "utf-8"),
        (#"[<!ENTITY a SYSTEM "file:///etc/hostname">]"#, "utf-8"),
        (#"[<!ENTITY % a "b">]"#, "utf-8"),
        ("[<!ELEMENT svg ANY>]", "utf-8"), ("[<!-- -->]", "utf-8"),
        (#"[<!ENTITY a "b"><!ENTITY a "c">]"#, "utf-8"), (#"[<!ENTITY amp "c">]"#, "utf-8"),
        (#"[<!ENTITY a "data:b">]"#, "utf-8"), (#"[<!ENTITY a "URL(b">]"#, "utf-8"),
        (#"[<!ENTITY a "http://www.w3.org/2001/XInclude">]"#, "utf-8"),
        (#"[<!ENTITY a "\#(String(repeating: "a", count: 300))">]"#, "utf-8"),
        (##"SYSTEM ">" [<!ENTITY a "&#60;image/>">]"##, "utf-8"),
        (#"SYSTEM "[" [<!ELEMENT a ANY>]"#, "utf-8"),
        ("", "utf-7"), ("", "utf-16"), ("", "a' encoding='utf-8"),
      ])
    func refusesText(subset: String, encoding: String) {
      expectRefusal(
        "<?xml version='1.0' encoding='\(encoding)'?><!DOCTYPE svg \(subset)>" + svg("<g/>"))
    }

    @Test("has no declarations or instructions elsewhere")
    func refusesDeclarations() {
      expectRefusal(svg("<!ENTITY a 'b'>"))
      expectRefusal("<?xml-stylesheet href='data:text/css,a'?>" + svg(""))
      expectRefusal(svg("<g class='&undeclared;'/>"))
    }

    /// A fault of the XML ends librsvg's reading, too; but the places of tags must not be in doubt.
    @Test(
      "is refused where its tags are no pairs",
      arguments: ["<g>", "</g>", "<g></a>", "<g a/>", "<:g/>", "<g a=b/>"])
    func refusesFaults(content: String) {
      #expect(throws: ImageDecodingError.self) { try markup(svg(content)) }
    }

    @Test(
      "of an attack is refused before librsvg reads it",
      arguments: [
        "quote-in-doctype", "quote-before-entities", "include-data", "use-data", "fill-data",
        "masks", "markers",
        "dashes", "prefix-undeclared", "style-in-parts", "other-files", "use-of-itself",
      ])
    func refusesAttack(name: String) throws {
      let file = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../Corpora/pictures/refused/svg-\(name).svg")
      expectRefusal(String(decoding: try Data(contentsOf: file), as: UTF8.self))
    }
  }
#endif
