import { generateSecret, generateURI, verifySync } from 'otplib';
import { renderSVG } from 'uqr';

const ISSUER = 'Tallygate';
/** One step to either side: phones are a few seconds off, and people are slow typists. */
const DRIFT_SECONDS = 30;
const SIX_DIGITS = /^\d{6}$/;

/** 160 random bits in base32, as RFC 4226 recommends. */
export const newTotpSecret = (): string => generateSecret();

/** What authenticator apps take: by SHA-1, six digits, thirty seconds, which is all that many of them know. */
export const otpauthUri = (email: string, secret: string): string => generateURI({ issuer: ISSUER, label: email, secret });

/** An SVG in a data URI: it needs no other request, and none of the secret reaches a drawing service. */
export const qrCode = (uri: string): string =>
  `data:image/svg+xml;base64,${Buffer.from(renderSVG(uri, { ecc: 'M', border: 4, pixelSize: 4 })).toString('base64')}`;

export const isTotpCode = (code: string): boolean => SIX_DIGITS.test(code);

/** The RFC 6238 time step whose code this is, among the present one and its neighbours; undefined when it is none of them. */
export function totpStep(secret: string, code: string, nowMs: number): number | undefined {
  if (!isTotpCode(code)) return undefined;
  const result = verifySync({ secret, token: code, epoch: Math.floor(nowMs / 1000), epochTolerance: DRIFT_SECONDS });
  return result.valid && 'timeStep' in result ? result.timeStep : undefined;
}
