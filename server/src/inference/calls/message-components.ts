import type { IncomingMessage } from 'node:http';

/** What of a request a signature covers: the head as it arrived. */
export type MessageHead = Pick<IncomingMessage, 'method' | 'url' | 'rawHeaders'>;

/**
 * The value of a component (RFC 9421, section 2); undefined for one that the request does not have or that is not supported.
 * @param scheme `http` or `https`, as the caller sees the service
 */
export function componentOf({ method = '', url = '', rawHeaders }: MessageHead, name: string, scheme: string): string | undefined {
  const authority = () => authorityOf(fieldValue(rawHeaders, 'host'), scheme);
  const mark = url.indexOf('?');
  switch (name) {
    case '@method':
      return method;
    case '@path':
      return mark < 0 ? url : url.slice(0, mark);
    case '@query':
      return mark < 0 ? '?' : url.slice(mark);
    case '@request-target':
      return url;
    case '@authority':
      return authority();
    case '@scheme':
      return scheme;
    case '@target-uri': {
      const host = authority();
      return host && `${scheme}://${host}${url}`;
    }
    default:
      return name.startsWith('@') ? undefined : fieldValue(rawHeaders, name);
  }
}

/** 2.2.3: in lower case, without the scheme's own port. */
function authorityOf(host: string | undefined, scheme: string): string | undefined {
  return host?.toLowerCase().replace(scheme === 'https' ? /:443$/ : /:80$/, '');
}

/** 2.1: every line of the field in order, trimmed and joined. `headers` would have dropped or joined some of them in its own way. */
function fieldValue(rawHeaders: readonly string[], name: string): string | undefined {
  const values: string[] = [];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2)
    if (rawHeaders[at]?.toLowerCase() === name) values.push((rawHeaders[at + 1] ?? '').trim());
  return values.length === 0 ? undefined : values.join(', ');
}
