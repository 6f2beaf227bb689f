/** Who somebody is to the company's directory. */
export interface DirectoryIdentity {
  /** The directory's own, unchanging name for them. */
  readonly subject: string;
  readonly email: string;
  readonly name: string | null;
  readonly groups: readonly string[];
  /** The directory's name for their session there; null where it has none. */
  readonly session: string | null;
}

/** What has to be remembered between the way to the directory and the way back. */
export interface SignInSecrets {
  readonly state: string;
  readonly nonce: string;
  readonly codeVerifier: string;
}

/** A sign-in that ended elsewhere. */
export interface EndedSession {
  /** Of everybody with this subject, or of one session. */
  readonly subject: string | null;
  readonly session: string | null;
}

/** The directory refuses, or what came back is not from it. */
export class SignInRefused extends Error {
  override readonly name = 'SignInRefused';
}

/** A company's directory, as it signs people in. */
export interface Directory {
  /** Where the browser goes, and what to remember until it is back. */
  begin(): Promise<SignInSecrets & { readonly url: string }>;
  /** @param returned the address that the browser came back to. @throws SignInRefused */
  complete(returned: URL, secrets: SignInSecrets): Promise<DirectoryIdentity>;
  /** Where the browser goes to end the session there as well; undefined where the directory has no such page. */
  logoutUrl(): Promise<string | undefined>;
  /** Whose sessions a logout token ends (OpenID Connect Back-Channel Logout 1.0). @throws SignInRefused */
  readLogout(logoutToken: string): Promise<EndedSession>;
}
