/** One advisory of the registry. */
export interface Advisory {
  readonly package: string;
  /** Its page: `https://github.com/advisories/GHSA-…`. */
  readonly url: string;
  readonly title: string;
  readonly severity: string;
}

/** An advisory that is no reason to stop, for now. */
export interface AcceptedAdvisory {
  /** `GHSA-…` */
  readonly id: string;
  readonly reason: string;
  /** The last day on which it is accepted: `2027-01-31`. */
  readonly until: string;
}

export interface Judgement {
  /** One line for each advisory that has to be dealt with. */
  readonly refused: readonly string[];
  /** One line for each that is known and accepted, or not severe. */
  readonly noted: readonly string[];
  /** Ids that are accepted and that nothing has any more. */
  readonly unused: readonly string[];
}

const NOT_SEVERE = new Set(['info', 'low']);

/** @param today `2026-11-21` */
export function judge(advisories: readonly Advisory[], accepted: readonly AcceptedAdvisory[], today: string): Judgement {
  const idOf = ({ url }: Advisory) => url.split('/').at(-1) ?? url;
  const acceptance = (advisory: Advisory) => accepted.find(({ id }) => id === idOf(advisory));
  const line = (advisory: Advisory, more = '') => `${advisory.package}: ${advisory.title} (${advisory.severity}, ${advisory.url})${more}`;
  const refused: string[] = [];
  const noted: string[] = [];
  for (const advisory of advisories) {
    const found = acceptance(advisory);
    if (found && found.until >= today) noted.push(line(advisory, `, accepted until ${found.until}: ${found.reason}`));
    else if (found) refused.push(line(advisory, `, was accepted until ${found.until}`));
    else (NOT_SEVERE.has(advisory.severity) ? noted : refused).push(line(advisory));
  }
  const unused = accepted.filter(({ id }) => !advisories.some((advisory) => idOf(advisory) === id)).map(({ id }) => id);
  return { refused, noted, unused };
}
