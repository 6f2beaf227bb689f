import * as z from 'zod';
import { isWithin } from '../access/identity/index.ts';
import { ConfigError } from './config-error.ts';
import { httpUrl } from './http-url.ts';

/** How WebAuthn names an app of Android: by the hash of its signing certificate. */
const ANDROID = /^android:apk-key-hash(?:-sha256)?:[A-Za-z0-9_-]{20,}$/;
const isOrigin = (text: string): boolean => ANDROID.test(text) || (URL.canParse(text) && new URL(text).origin === text);

const origins = z
  .string()
  .transform((text) => text.split(',').map((entry) => entry.trim()))
  .refine((all) => all.every(isOrigin), 'Expected origins such as https://app.example.com or android:apk-key-hash:…');

export const PASSKEY_VARIABLES = {
  PASSKEY_RP_ID: z.hostname('Expected a domain such as example.com').toLowerCase().optional(),
  PASSKEY_ORIGINS: origins.default([]),
};

/** What the operator says of passkeys. */
export interface PasskeyConfig {
  /** Undefined: the host of the public address. */
  readonly rpId: string | undefined;
  readonly origins: readonly string[];
}

const Given = z.object({ ...PASSKEY_VARIABLES, PUBLIC_URL: httpUrl.optional() });

/** @throws ConfigError for a domain that browsers would refuse at the public address */
export function passkeysOf({ PASSKEY_RP_ID: rpId, PASSKEY_ORIGINS, PUBLIC_URL: url }: z.infer<typeof Given>): PasskeyConfig {
  if (url !== undefined && rpId !== undefined && !isWithin(new URL(url).hostname, rpId))
    throw new ConfigError([`PASSKEY_RP_ID is ${rpId}, which is neither the host of PUBLIC_URL nor a domain above it`]);
  return { rpId, origins: PASSKEY_ORIGINS };
}
