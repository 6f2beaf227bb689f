import type { IncomingMessage } from 'node:http';
import { Problem } from '../../kernel/problem.ts';

/** RFC 9110, section 4.2: a name, an IPv4 address or an IPv6 address in brackets, and a port. */
const HOST = /^(?:[\w.~!$&'()*+;=%-]*|\[[\da-f:.]+\])(?::\d{0,5})?$/i;
const ABSOLUTE = /^https?:\/\/([^/?#]*)(.*)$/i;

/**
 * Headers of one value (RFC 9110, section 5.3) that are read here. Of two, Node keeps the first, or joins them to a value that no client sent,
 * where a proxy in front may have judged the last. `Authorization` is judged with the other credentials; lists, such as `X-Forwarded-For`,
 * may come in several parts.
 */
const SINGLE: ReadonlyMap<string, number> = new Map(
  [
    ...['host', 'content-type', 'expect', 'origin', 'range', 'idempotency-key', 'stripe-signature'],
    ...[
      'x-api-key',
      'api-key',
      'x-goog-api-key',
      'x-web-session-token',
      'x-internal-secret',
      'x-event-email',
      'x-sandbox-fault',
      'x-vaas-anchor',
      'x-on-disconnect',
    ],
    ...['x-agent-run-id', 'x-agent-parent-run-id', 'x-agent-max-budget', 'x-agent-max-calls', 'x-agent-deadline'],
    ...['x-budget-policy', 'x-fallback-policy'],
  ].map((name, index) => [name, 2 ** index]),
);

/**
 * Refuses what two servers on one way could read as two different requests (RFC 9112, sections 3.2 and 6.1), beyond what the HTTP parser
 * refuses: a proxy in front may have looked at the other host, or seen the body end elsewhere. A target in absolute form with the same host
 * is normalized.
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
  const { host } = headers;
  const repeated = repeatedIn(rawHeaders);
  if (repeated) return malformed(`The request has more than one ${repeated} header: send exactly one.`, `several ${repeated} headers`);
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

/** Goes once through the headers of every request: what was seen is a bit each. */
function repeatedIn(rawHeaders: readonly string[]): string | undefined {
  let seen = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? '';
    const bit = SINGLE.get(name.toLowerCase()) ?? 0;
    if ((seen & bit) !== 0) return name;
    seen |= bit;
  }
  return undefined;
}

const malformed = (detail: string, because: string): Problem => new Problem('malformed_request', detail, { because });
