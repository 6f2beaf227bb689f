import { domainToASCII } from 'node:url';
import * as z from 'zod';

/** A host name with non-ASCII characters: labels, joiners, and the full stops of several scripts (RFC 5890, UTS 46). */
const INTERNATIONAL = /^(?=.*\P{ASCII})[\p{L}\p{M}\p{N}\p{So}\p{Join_Control}.\u3002\uff0e\uff61-]{1,253}$/u;

/**
 * The ASCII spelling of an address with an internationalized domain, as DNS and mail servers use it (RFC 5891), so that
 * `a@bücher.example` and `a@xn--bcher-kva.example` are one mailbox in every comparison. Everything else is unchanged.
 */
export function asciiAddress(given: string): string {
  const at = given.lastIndexOf('@') + 1;
  const domain = given.slice(at);
  return at > 0 && INTERNATIONAL.test(domain) ? `${given.slice(0, at)}${domainToASCII(domain) || domain}` : given;
}

/** As zod has it, and besides a top-level domain that is `xn--p1ai` to DNS. */
const PATTERN = /^(?!\.)(?!.*\.\.)[a-z0-9_'+.-]*[a-z0-9_+-]@(?:[a-z0-9][a-z0-9-]*\.)+(?:[a-z]{2,}|xn--[a-z0-9-]*[a-z0-9])$/i;

// Only mail servers that know SMTPUTF8 (RFC 6531) could be handed such an address, and no reply would find its way through the others.
const faultOf = (input: unknown): string =>
  typeof input === 'string' && /\P{ASCII}.*@/u.test(input)
    ? 'must have nothing but ASCII letters, digits and signs before the @: only the domain may have other letters'
    : 'must be an e-mail address such as ada@example.com';

/** An address that mail can be sent to, in the spelling of `asciiAddress`. */
export const EmailAddress = z
  .string()
  .overwrite(asciiAddress)
  .check(z.email({ pattern: PATTERN, error: ({ input }) => faultOf(input) }))
  .max(254);
