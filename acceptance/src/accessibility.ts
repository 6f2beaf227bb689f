import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Result } from 'axe-core';
import type { Page } from 'playwright-core';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface Look {
  /** Left out, all of them. */
  readonly rules?: readonly string[];
  /** A selector of what is not looked at. */
  readonly except?: string;
}

/**
 * What axe has to complain of on a page as it is now: a line per rule, with the elements. It is asked for violations alone: to describe each
 * element that passes takes most of its time.
 */
export async function accessibilityFaults(page: Page, { rules, except }: Look = {}): Promise<string[]> {
  if (!(await page.evaluate("'axe' in globalThis"))) await page.evaluate(AXE);
  const where = JSON.stringify(except === undefined ? undefined : { exclude: [except] }) ?? 'document';
  const how = JSON.stringify({ resultTypes: ['violations'], ...(rules && { runOnly: rules }) });
  const violations = await page.evaluate<Result[]>(`axe.run(${where}, ${how}).then(({ violations }) => violations)`);
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html, target }) => `${target.join(' ')} ${html}`).join(', ')}`);
}
