import { environmentVariable } from './environment.ts';

const DEFAULT_BASE_URL = 'http://127.0.0.1:8787';

/** Where the gateway is, and as whom. */
export interface Address {
  /** `tg_live_…` or `tg_test_…`. Default: `TALLYGATE_API_KEY`, where there is an environment. `null`: none, even if the environment has one. */
  readonly apiKey?: string | null | undefined;
  /** `tgs_…`, from `identity.login`. Instead of an API key. */
  readonly sessionToken?: string | undefined;
  /** Address of the gateway, with or without `/v1`. Default: `TALLYGATE_BASE_URL`, else a gateway on this computer. */
  readonly baseUrl?: string | undefined;
}

/** @throws TypeError when there are two, or when it is nothing that could be one */
export function credentialOf({ apiKey, sessionToken }: Address): string | undefined {
  if (apiKey && sessionToken) throw new TypeError('Give either apiKey or sessionToken: the service refuses both at once.');
  if (sessionToken) return wellFormed('sessionToken', sessionToken);
  if (apiKey === null) return undefined;
  return apiKey ? wellFormed('apiKey', apiKey) : wellFormed('TALLYGATE_API_KEY', environmentVariable('TALLYGATE_API_KEY'));
}

/**
 * Credentials are visible ASCII. One that has other characters, such as a pasted line break, is refused here and never shown: `fetch` would quote it
 * in the message of its error. White space around it, such as the line break at the end of a file, does no harm.
 */
function wellFormed<T extends string | undefined>(name: string, given: T): string | T {
  const credential = given?.trim();
  if (credential === undefined) return given;
  if (/^[\x21-\x7e]+$/.test(credential)) return credential;
  throw new TypeError(`${name} is malformed: it has a line break, a space or another character that no credential has. Copy it again.`);
}

/** Without `/v1`, which people paste because OpenAI's clients want it so. */
export function baseUrlOf(given: string | undefined): string {
  const text = given ?? environmentVariable('TALLYGATE_BASE_URL') ?? DEFAULT_BASE_URL;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw new TypeError(`The base URL must be an http or https address, not "${withoutSecrets(text)}".`);
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '').replace(/\/v1$/, '');
}

/** A key that was set instead of the address, and the password of an address, must not be disclosed. */
const withoutSecrets = (text: string): string => text.replace(/\/\/[^/]*@/, '//…@').replace(/\btgs?_.*/s, 'tg_…');

/** What OpenAI's clients call it. @throws TypeError without a credential */
export function openaiAddress(baseUrl: string, credential: string | undefined): { baseURL: string; apiKey: string } {
  if (credential === undefined) throw new TypeError('There is no credential: pass apiKey, or set TALLYGATE_API_KEY.');
  return { baseURL: `${baseUrl}/v1`, apiKey: credential };
}
