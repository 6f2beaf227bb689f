import type { DeliveryReport } from './delivery-report.ts';

/** What a mail server reports, and when that was heard. */
export interface Told {
  readonly report: DeliveryReport;
  readonly at: Date;
}

/**
 * Of class 5 (permanently) are also mailboxes that are full, and mails that a filter rejects: neither means that the address is
 * none. RFC 3463, 3.2 to 3.8.
 */
export const kindOf = ({ action, status }: DeliveryReport): 'hard' | 'soft' =>
  action === 'failed' && /^5\.(0\.|1\.|2\.[01]$|4\.4$)/.test(status) ? 'hard' : 'soft';
