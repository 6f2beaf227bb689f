import type { Registration } from './registration.ts';

/** One turn of a registration: whoever registers anew has another, so that links of before lead nowhere. */
export const payReferenceOf = ({ registration_id, turn }: Pick<Registration, 'registration_id' | 'turn'>): string =>
  `${registration_id}:${turn}`;

export const registrationOfReference = (reference: string): string => reference.split(':', 1)[0] ?? '';
