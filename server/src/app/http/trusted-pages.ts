import type { IncomingHttpHeaders } from 'node:http';
import { Problem } from '../../kernel/problem.ts';
import type { Config } from '../config.ts';

/** Which web pages may speak to the gateway as programs do. */
export interface TrustedPages {
  /** Origins beside our own and those of this machine. */
  readonly origins: ReadonlySet<string>;
  readonly publicUrl: () => string;
  /** The gateway is for this machine alone, so a request for another name was led here. */
  readonly isLocalOnly: boolean;
}

const LOOPBACK: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);

export const trustedPages = (
  { host, publicUrl: configured, mcpOrigins }: Pick<Config, 'host' | 'publicUrl' | 'mcpOrigins'>,
  publicUrl: () => string,
): TrustedPages => ({
  origins: new Set(mcpOrigins),
  publicUrl,
  isLocalOnly: configured === undefined && LOOPBACK.has(host.includes(':') ? `[${host}]` : host),
});

/**
 * Guards against DNS rebinding, by which a page makes its own name resolve to an address that only this machine reaches; the MCP
 * specification asks for it (transports, security). A program that is no browser names no origin.
 * @throws Problem `forbidden`
 */
export function requireTrustedPage(headers: IncomingHttpHeaders, { origins, publicUrl, isLocalOnly }: TrustedPages): void {
  const { origin, host = '' } = headers;
  if (isLocalOnly && !LOOPBACK.has(nameOf(`http://${host}`)))
    throw new Problem('forbidden', 'This gateway serves its own machine: ask for it as 127.0.0.1 or localhost, or set PUBLIC_URL.', {
      because: 'another Host',
    });
  if (origin === undefined || origins.has(origin)) return;
  const isOurs = URL.canParse(origin) && origin === new URL(publicUrl()).origin;
  if (!isOurs && !LOOPBACK.has(nameOf(origin)))
    throw new Problem('forbidden', 'Pages of this origin may not use the MCP server: an operator can allow it with MCP_ORIGINS.', {
      because: 'another Origin',
    });
}

const nameOf = (url: string): string => (URL.canParse(url) ? new URL(url).hostname : '');
