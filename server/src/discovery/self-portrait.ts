import type { Model } from '@tallygate/contract';
import type { Guide } from './guides.ts';
import type { Surface } from './surface.ts';

/** What the documents are drawn from. */
export interface SelfPortrait {
  readonly surface: Surface;
  /** With the prices of the moment. */
  readonly models: readonly Model[];
  readonly guides: readonly Guide[];
  /** Where the service is reached from outside, without a slash at the end. */
  readonly publicUrl: string;
  /** The address for dedicated traffic, without a slash at the end; undefined where there is none. */
  readonly dedicatedUrl?: string | undefined;
  readonly log: LogPortrait;
  /** A URI of the security contact. */
  readonly securityContact: string;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** Who watches the log of receipts. */
export interface LogPortrait {
  readonly witnesses: readonly { readonly name: string; readonly verifierKey: string; readonly url: string }[];
  /** Whom verifiers demand; null where there are no witnesses. */
  readonly policy: string | null;
}

export const CREDENTIAL = 'An API key (`tg_live_…`, or `tg_test_…` for the free sandbox), as `Authorization: Bearer …`.';

/** What keeps an agent within bounds, header by header. */
export const SAFEGUARDS = [
  { name: 'X-Agent-Run-Id', description: 'Groups the steps of one session of an agent.' },
  {
    name: 'X-Agent-Max-Budget',
    description: 'Hard ceiling of the run in USD, a decimal string; set by its first request, only ever lowered.',
  },
  { name: 'X-Agent-Parent-Run-Id', description: 'Makes the run draw on the ceiling of another one as well.' },
  { name: 'X-Budget-Policy', description: '`clamp` lowers `max_tokens` to what the budget still covers, instead of refusing.' },
  {
    name: 'X-Fallback-Policy',
    description: '`none`: no other model may answer. `semantic`: one that can do the same and costs no more may.',
  },
  {
    name: 'X-VaaS-Anchor',
    description:
      '`true` asks for the root over the receipt to be anchored on a public chain soon; the answer says `requested`, `scheduled` (timestamps only) or `unavailable`.',
  },
  { name: 'Idempotency-Key', description: 'A repeat is answered with the first answer, and charged once.' },
] as const;
