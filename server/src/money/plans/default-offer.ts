import file from './default-offer.json' with { type: 'json' };
import { type Offer, readOffer } from './offer.ts';

/** The tiers of the interface, where `PLANS_FILE` names no others. */
export const DEFAULT_OFFER: Offer = offerOf(file);

function offerOf(json: unknown): Offer {
  const read = readOffer(json);
  if ('faults' in read) throw new Error(read.faults.join('\n'));
  return read.offer;
}
