import { Problem } from '../../../kernel/problem.ts';
import { isRecord } from '../usage.ts';

/** What of a request no price holds. */
export interface Unpriced {
  /** Where it is in the request. */
  readonly param: string;
  readonly what: string;
}

/** How the cost that a request field can cause is kept under the caps. */
export interface FieldRule {
  /** `counted`: in the worst case that is held. `refused`: no price holds it. `free`: it costs nothing of its own. */
  readonly kept: 'counted' | 'refused' | 'free';
  /** Where it is counted, what has no price, or why it is free. */
  readonly how: string;
  /** What the request's own fields are called inside of it, some provider may read there. Always so for fields that are in no table. */
  readonly mayHoldFields?: true;
  /** Of an object whose members are fields of the request in all but their place: how each of them is kept. */
  readonly members?: FieldRules;
  /** What of a value has no price. Not asked for `null`, which says nothing. */
  readonly unpriced?: (value: unknown, param: string) => Unpriced | undefined;
}

export type FieldRules = Readonly<Record<string, FieldRule>>;

export const counted = (how: string, unpriced?: FieldRule['unpriced']): FieldRule => ({
  kept: 'counted',
  how,
  ...(unpriced && { unpriced }),
});

/** @param passes values that cost nothing extra, and go to the provider */
export const refused = (how: string, passes: (value: unknown) => boolean = () => false): FieldRule => ({
  kept: 'refused',
  how,
  unpriced: (value, param) => (passes(value) ? undefined : { param, what: how }),
});

/** Many fields that are free for one reason. */
export const free = (how: string, ...names: string[]): FieldRules =>
  Object.fromEntries(names.map((name) => [name, { kept: 'free', how } as const]));

/** What no price holds is refused with the place where it is asked for. */
export const unpricedFeature = ({ param, what }: Unpriced): Problem =>
  new Problem('unpriced_feature', `The catalogue has no price for ${what}, so no cap could hold it: remove \`${param}\`.`, { param });

/** Members that are not among the priced ones, or have another value. */
export function unpricedMember(value: unknown, param: string, priced: Readonly<Record<string, (value: unknown) => boolean>>) {
  if (!isRecord(value)) return undefined;
  const other = Object.entries(value).find(
    ([name, one]) => one !== null && one !== undefined && !(Object.hasOwn(priced, name) && priced[name]?.(one)),
  );
  if (!other) return undefined;
  const [name, asked] = other;
  return { param: `${param}.${name}`, what: `\`${name.slice(0, 40)}: ${JSON.stringify(asked)?.slice(0, 40)}\` in \`${param}\`` };
}
