import { Tallygate, webLogStore } from '@tallygate/sdk';

const baseUrl = location.origin;

/**
 * The client of the person who is signed in. Their session is in a cookie that no script reads; the header says that a page of this
 * origin is calling. States of the log that were seen stay in this browser.
 */
export const tallygate = new Tallygate({
  apiKey: null,
  baseUrl,
  headers: { 'x-csrf-protection': '1' },
  logStore: webLogStore(localStorage),
  maxRetries: 1,
});

/** Without any credential: to log in. */
export const stranger = new Tallygate({ apiKey: null, baseUrl, maxRetries: 0 });

/** With an API key that was pasted into the playground: it stays in memory. */
export const withKey = (apiKey: string): Tallygate => new Tallygate({ apiKey, baseUrl, maxRetries: 0 });

/** Puts a fresh session into the cookie. */
export async function keepSession(token: string): Promise<void> {
  await new Tallygate({ sessionToken: token, baseUrl, maxRetries: 0 }).request({ method: 'POST', path: '/console/session' });
}

export async function endSession(): Promise<void> {
  await tallygate.identity.logout().catch(() => undefined);
  await stranger.request({ method: 'DELETE', path: '/console/session' });
}
