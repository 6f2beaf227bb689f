import type { Registration } from './registration.ts';

/** One turn of a registration: registering again creates another, so that earlier links are invalid. */
export const payReferenceOf = ({ registration_id, turn }: Pick<Registration, 'registration_id' | 'turn'>): string =>
  `${registration_id}:${turn}`;

export const registrationOfReference = (reference: string): string => reference.split(':', 1)[0] ?? '';
