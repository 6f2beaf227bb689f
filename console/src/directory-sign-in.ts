import type { UserResponse } from '@tallygate/sdk';
import { stranger } from './client.ts';

/** For this tab alone: who begins in one does not end in another. */
const PLACE = 'tallygate.console.sign-in';

interface Begun {
  readonly verifier: string;
  readonly state: string;
  /** Where the person wanted to go. */
  readonly to: string;
}

const base64url = (bytes: Uint8Array): string =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
const random = (): string => base64url(crypto.getRandomValues(new Uint8Array(32)));

/** Sends the browser to the directory. Only who has the verifier, this tab, can take the session (RFC 7636). */
export async function beginAtDirectory(loginUrl: string, to: string): Promise<void> {
  const begun: Begun = { verifier: random(), state: random(), to };
  sessionStorage.setItem(PLACE, JSON.stringify(begun));
  const challenge = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(begun.verifier));
  const start = new URL(loginUrl, location.origin);
  start.searchParams.set('redirect_uri', `${location.origin}/console/sign-in`);
  start.searchParams.set('code_challenge', base64url(new Uint8Array(challenge)));
  start.searchParams.set('state', begun.state);
  location.assign(start);
}

/** What the directory's way back says in the address. */
export interface Returned {
  readonly code?: string;
  readonly state?: string;
  readonly error_description?: string;
}

/**
 * Takes the session of a sign-in that came back.
 *
 * @throws where it was begun in another tab, or by somebody else
 */
export async function endAtDirectory({ code = '', state }: Returned): Promise<{ readonly user: UserResponse; readonly to: string }> {
  const kept = sessionStorage.getItem(PLACE);
  sessionStorage.removeItem(PLACE);
  const begun = kept === null ? undefined : (JSON.parse(kept) as Begun);
  if (begun === undefined || begun.state !== state) throw new Error('This sign-in was not begun in this tab: begin it again.');
  return { user: await stranger.sso.token({ code, code_verifier: begun.verifier }), to: begun.to };
}
