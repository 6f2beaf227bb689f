/**
 * For metrics of which every request changes several: plain numbers, and the exposition text when it is read. `prom-client` checks, sorts and
 * joins the labels at every change, and cost every request more than its hold does.
 */

type Labels = Readonly<Record<string, string>>;

interface Described {
  readonly name: string;
  readonly help: string;
}

/** `{model="x",livemode="true"}`; nothing where there are none. */
function written(labels: Labels): string {
  const members = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`);
  return members.length === 0 ? '' : `{${members.join(',')}}`;
}

const escaped = (value: string): string => value.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"');

const headOf = ({ name, help }: Described, type: 'counter' | 'histogram'): string => `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`;

/** A counter: what its samples with the same labels add up to. */
export function counterText(described: Described, samples: Iterable<readonly [Labels, number]>): string {
  const sums = new Map<string, number>();
  for (const [labels, value] of samples) {
    const name = written(labels);
    sums.set(name, (sums.get(name) ?? 0) + value);
  }
  return headOf(described, 'counter') + [...sums].map(([labels, sum]) => `${described.name}${labels} ${sum}\n`).join('');
}

/** What was observed, in buckets. */
export class Distribution {
  readonly #bounds: readonly number[];
  /** Of each bucket by itself; behind them what was above all bounds. */
  readonly #counts: Float64Array;
  #sum = 0;

  /** @param bounds ascending */
  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#counts = new Float64Array(bounds.length + 1);
  }

  observe(value: number): void {
    let bucket = 0;
    while (bucket < this.#bounds.length && value > (this.#bounds[bucket] ?? 0)) bucket += 1;
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
    this.#sum += value;
  }

  /** Its lines of a histogram. */
  lines(name: string, labels: Labels): string {
    let count = 0;
    let text = '';
    for (const [bucket, counted] of this.#counts.entries()) {
      count += counted;
      text += `${name}_bucket${written({ le: String(this.#bounds[bucket] ?? '+Inf'), ...labels })} ${count}\n`;
    }
    return `${text}${name}_sum${written(labels)} ${this.#sum}\n${name}_count${written(labels)} ${count}\n`;
  }
}

export const histogramText = (described: Described, distributions: Iterable<readonly [Labels, Distribution]>): string =>
  headOf(described, 'histogram') + [...distributions].map(([labels, distribution]) => distribution.lines(described.name, labels)).join('');

/** The same metrics of several processes, added up sample by sample; what describes a metric stays in front of its samples. */
export function summedText(texts: readonly string[]): string {
  const metrics = new Map<string, Map<string, number>>();
  for (const text of texts)
    for (const metric of text.split(/^(?=# HELP )/m)) {
      const lines = metric.split('\n').filter((line) => line !== '');
      const head = lines.filter((line) => line.startsWith('#')).join('\n');
      const sums = metrics.get(head) ?? new Map<string, number>();
      metrics.set(head, sums);
      for (const line of lines.filter((one) => !one.startsWith('#'))) {
        const at = line.lastIndexOf(' ');
        sums.set(line.slice(0, at), (sums.get(line.slice(0, at)) ?? 0) + Number(line.slice(at + 1)));
      }
    }
  return [...metrics].map(([head, sums]) => `${head}\n${[...sums].map(([sample, sum]) => `${sample} ${sum}\n`).join('')}`).join('\n');
}
