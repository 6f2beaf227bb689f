import { isIP } from 'node:net';

/** Whom passkeys are made for, and which pages and apps may use them. */
export interface RelyingParty {
  /** A domain: a passkey is for it and all names below it. */
  readonly rpId: string;
  /** Origins of pages, and of apps as their systems write them (`android:apk-key-hash:…`). */
  readonly origins: readonly string[];
}

interface Addresses {
  /** What the service is reached as. */
  readonly publicUrl: string;
  /** Of the web front end, where there is one. */
  readonly webUrl: string | undefined;
  /** What the operator says instead of the host of `publicUrl`. */
  readonly rpId: string | undefined;
  readonly origins: readonly string[];
}

/** @returns undefined where the service is reached at an IP address: browsers make passkeys for names alone */
export function relyingPartyOf({ publicUrl, webUrl, rpId: given, origins }: Addresses): RelyingParty | undefined {
  const own = named(new URL(publicUrl));
  const rpId = given ?? own.hostname;
  if (isIP(rpId.replace(/^\[|\]$/g, '')) !== 0) return undefined;
  const pages = [own, ...(webUrl === undefined ? [] : [named(new URL(webUrl))])].filter(({ hostname }) => isWithin(hostname, rpId));
  return { rpId, origins: [...new Set([...pages.map(({ origin }) => origin), ...origins])] };
}

/** Whether a page at this host may use passkeys of the domain. */
export const isWithin = (hostname: string, rpId: string): boolean => hostname === rpId || hostname.endsWith(`.${rpId}`);

/** A gateway on one's own machine says 127.0.0.1; the name of that, which passkeys can be made for, is localhost. */
function named(url: URL): URL {
  if (url.hostname === '127.0.0.1' || url.hostname === '[::1]') url.hostname = 'localhost';
  return url;
}
