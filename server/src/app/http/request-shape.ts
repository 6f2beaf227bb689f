import type { IncomingMessage } from 'node:http';
import { Problem } from '../../kernel/problem.ts';

/** RFC 9110, section 4.2: a name, an IPv4 address or an IPv6 address in brackets, and a port. */
const HOST = /^(?:[\w.~!$&'()*+;=%-]*|\[[\da-f:.]+\])(?::\d{0,5})?$/i;
const ABSOLUTE = /^https?:\/\/([^/?#]*)(.*)$/i;

/**
 * Refuses what two servers on one way could read as two different requests (RFC 9112, sections 3.2 and 6.1), beyond what the HTTP parser
 * refuses: a proxy in front may have looked at the other host, or seen the body end elsewhere. A target in absolute form with the same host
 * is brought into the usual form.
 *
 * @returns why the request is refused; undefined where it is not
 */
export function faultOfShape(req: IncomingMessage): Problem | undefined {
  const { rawHeaders, headers, httpVersion } = req;
  if (httpVersion !== '1.1' && httpVersion !== '1.0')
    return malformed('Only HTTP/1.1 and HTTP/1.0 are spoken here.', 'another HTTP version');
  const coding = headers['transfer-encoding'];
  if (coding !== undefined && (coding.toLowerCase() !== 'chunked' || httpVersion !== '1.1'))
    return malformed('The only Transfer-Encoding taken here is chunked, in HTTP/1.1.', 'another Transfer-Encoding');
  let hosts = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index];
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts += 1;
  }
  const { host } = headers;
  if (hosts > 1) return malformed('The request has more than one Host header: send exactly one.', 'several Host headers');
  if (host === undefined) {
    // Asked for by HTTP/1.1 alone.
    if (httpVersion === '1.0') return undefined;
    return malformed('The request has no Host header, which HTTP/1.1 requires.', 'no Host header');
  }
  if (!HOST.test(host)) return malformed('The Host header is not a host name with an optional port.', 'invalid Host header');
  const { url = '' } = req;
  if (url.startsWith('/') || url === '*') return undefined;
  const [, authority, rest = ''] = ABSOLUTE.exec(url) ?? [];
  if (authority === undefined) return malformed('The request target is neither a path nor an http URL.', 'invalid request target');
  if (authority.toLowerCase() !== host.toLowerCase())
    return malformed('The URL in the request line names another host than the Host header.', 'Host differs from the target');
  req.url = rest.startsWith('/') ? rest : `/${rest}`;
  return undefined;
}

const malformed = (detail: string, because: string): Problem => new Problem('malformed_request', detail, { because });
