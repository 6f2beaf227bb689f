import { createHash } from 'node:crypto';
import type { Certificate, SignedData } from 'pkijs';

/** What a token has shown. */
export interface TimestampedText {
  readonly time: Date;
}

/** Why a token shows nothing. */
export class TokenRefused extends Error {}

/** Attributes that name the certificate of the signer by its hash (RFC 2634 and RFC 5035), so that no other certificate of the key passes. */
const SIGNING_CERTIFICATE: ReadonlySet<string> = new Set(['1.2.840.113549.1.9.16.2.12', '1.2.840.113549.1.9.16.2.47']);
const CERTIFICATE_HASHES = ['sha1', 'sha256', 'sha384', 'sha512'];
const EXTENDED_KEY_USAGE = '2.5.29.37';
const TIME_STAMPING = '1.3.6.1.5.5.7.3.8';
const SHA256 = '2.16.840.1.101.3.4.2.1';

/**
 * Checks a time-stamp token (RFC 3161) offline: that it is for the text, that its signature holds, and that a trusted authority has certified the
 * signer for time stamps, at the time of the stamp.
 *
 * @param roots certificates that are trusted, PEM, one after the other
 * @throws TokenRefused
 */
export async function checkToken(token: Uint8Array, text: string, roots: string): Promise<TimestampedText> {
  const { Certificate, ContentInfo, SignedData, TSTInfo } = await import('pkijs');
  const trusted = certificatesIn(roots).map((der) => understood(() => Certificate.fromBER(der), 'A trusted certificate'));
  if (trusted.length === 0) throw new TokenRefused('The file of trusted certificates has none in PEM.');
  const signed = understood(() => new SignedData({ schema: ContentInfo.fromBER(new Uint8Array(token)).content }), 'The token');
  const info = understood(() => {
    const content = signed.encapContentInfo.eContent?.getValue();
    if (!content || signed.signerInfos.length !== 1) throw new TokenRefused('The token has another number of signers than one.');
    return TSTInfo.fromBER(content);
  }, 'The token');
  if (info.messageImprint.hashAlgorithm.algorithmId !== SHA256) throw new TokenRefused('The token is not over a SHA-256.');
  const data = new Uint8Array(Buffer.from(text)).buffer;
  const checked = { signer: 0, trustedCerts: trusted, data, checkChain: true, checkDate: info.genTime, extendedMode: true as const };
  const found = await signed.verify(checked).catch((error: unknown) => {
    throw new TokenRefused(`The signature of the token does not hold: ${error instanceof Error ? error.message : 'no reason given'}.`);
  });
  if (!found.signatureVerified || !found.signerCertificateVerified || !found.signerCertificate)
    throw new TokenRefused('The signature of the token does not hold.');
  checkSigner(signed, found.signerCertificate);
  return { time: info.genTime };
}

/** RFC 3161, section 2.3: its key is for time stamps alone. Section 2.4.2: the signature names the certificate. */
function checkSigner(signed: SignedData, certificate: Certificate): void {
  const usage = certificate.extensions?.find(({ extnID }) => extnID === EXTENDED_KEY_USAGE);
  const purposes: unknown = usage?.parsedValue?.keyPurposes;
  if (!usage?.critical || !Array.isArray(purposes) || purposes.length !== 1 || purposes[0] !== TIME_STAMPING)
    throw new TokenRefused('The certificate of the signer is not one for time stamps alone.');
  const der = Buffer.from(certificate.toSchema(true).toBER());
  const hashes = CERTIFICATE_HASHES.map((name) => createHash(name).update(der).digest());
  const named = signed.signerInfos[0]?.signedAttrs?.attributes.filter(({ type }) => SIGNING_CERTIFICATE.has(type)) ?? [];
  const values = named.flatMap((attribute) => attribute.values.map((value) => Buffer.from(value.toBER())));
  if (!values.some((value) => hashes.some((hash) => value.includes(hash))))
    throw new TokenRefused('The signature does not name the certificate of its signer.');
}

function understood<T>(read: () => T, what: string): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof TokenRefused) throw error;
    throw new TokenRefused(`${what} cannot be read.`);
  }
}

const certificatesIn = (pem: string): Uint8Array<ArrayBuffer>[] =>
  [...pem.matchAll(/-----BEGIN CERTIFICATE-----([A-Za-z0-9+/=\s]+)-----END CERTIFICATE-----/g)].map(
    ([, body = '']) => new Uint8Array(Buffer.from(body, 'base64')),
  );
