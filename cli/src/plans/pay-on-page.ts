import type { PlanCheckoutState, Tallygate } from '@tallygate/sdk';
import { InvalidArgumentError, Option } from 'commander';
import type { CommandWorld } from '../command.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { type Column, plainText, printRecord } from '../print.ts';

export interface PageOptions {
  readonly browser: boolean;
  readonly wait: boolean;
  readonly every: number;
}

const MS_PER_SECOND = 1_000;

/** Of every command that leads to a hosted page. */
export const pageOptions = (): Option[] => [
  new Option('--no-browser', 'print the address of the page, and open nothing'),
  new Option('--no-wait', 'do not wait until it is paid'),
  new Option('--every <seconds>', 'polling interval').argParser(seconds).default(2),
];

type Checkout = Pick<PlanCheckoutState, 'checkout_id' | 'status' | 'amount_usd' | 'checkout_url' | 'expires_at'>;

const LINES: readonly Column<Checkout>[] = [
  { title: 'Checkout', of: ({ checkout_id }) => checkout_id },
  { title: 'Status', of: ({ status }) => status },
  { title: 'Amount USD', of: ({ amount_usd }) => amount_usd },
  { title: 'Page', of: ({ checkout_url }) => checkout_url },
  { title: 'Open until', of: ({ expires_at }) => expires_at },
];

/** Opens the page on which a checkout is paid, and waits for the result. What is paid already is shown. @returns a failure when it expired */
export async function payOnPage(
  world: CommandWorld,
  client: Tallygate,
  checkout: Checkout,
  { browser, wait, every }: PageOptions,
): Promise<ExitCode> {
  const { err, signal } = world;
  if (checkout.status !== 'open' || checkout.checkout_url === null) {
    printRecord(world, checkout, LINES);
    return EXIT.ok;
  }
  const isOpened = browser && (await world.openPage(checkout.checkout_url));
  err.write(plainText(`${isOpened ? 'The page to pay on is open in your browser' : 'Pay here'}: ${checkout.checkout_url}\n`));
  if (!wait) {
    printRecord(world, checkout, LINES);
    return EXIT.ok;
  }
  const startedAt = world.now().getTime();
  if (!err.isTty) err.write('Waiting for the payment.\n');
  const paid = await client.plans.waitForCheckout(checkout.checkout_id, {
    signal,
    pollMs: every * MS_PER_SECOND,
    onProgress: ({ status }) => {
      const elapsed = Math.round((world.now().getTime() - startedAt) / MS_PER_SECOND);
      // One line that is written anew, as long as somebody looks at it.
      if (err.isTty) err.write(`\rWaiting for the payment: ${status}, ${elapsed} s ${status === 'open' ? '' : '\n'}`);
    },
  });
  printRecord(world, paid, LINES);
  return paid.status === 'completed' ? EXIT.ok : EXIT.failure;
}

function seconds(text: string): number {
  const value = Number(text);
  if (value > 0 && value <= 3_600) return value;
  throw new InvalidArgumentError('Expected up to 3600 seconds.');
}
