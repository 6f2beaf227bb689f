import type { VibethonRegistrationResponse, VibethonRegistrationStatusResponse } from '@tallygate/sdk';
import type { Command } from 'commander';
import { type CommandWorld, type Perform, type Typed, withJson } from '../command.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { PlanCheckoutStateFields, VibethonRegistrationStatusResponseFields } from '../generated/fields.ts';
import { type PageOptions, pageOptions, payOnPage } from '../plans/pay-on-page.ts';
import { type Column, printRecord } from '../print.ts';

interface RegisterOptions {
  readonly name?: string;
  readonly company?: string;
  readonly message?: string;
  readonly news?: boolean;
}

interface CheckoutOptions extends PageOptions {
  readonly email?: string;
}

type Standing = Pick<VibethonRegistrationResponse | VibethonRegistrationStatusResponse, 'email' | 'waitlist_position' | 'pay_by'> & {
  readonly status: string;
  readonly payment_status: string | null;
};

const LINES: readonly Column<Standing>[] = [
  { title: 'Address', of: ({ email }) => email },
  { title: 'Status', of: ({ status }) => status },
  { title: 'On the waitlist', of: ({ waitlist_position }) => waitlist_position },
  { title: 'Payment', of: ({ payment_status }) => payment_status },
  { title: 'Pay by', of: ({ pay_by }) => pay_by },
];

/** `events register`, `events status`, `events cancel`, `events checkout`. */
export function takePart(events: Command, perform: Perform): void {
  withJson(
    [...VibethonRegistrationStatusResponseFields, 'registration_id', 'price_usd', 'registered_at'],
    events
      .command('register')
      .description('Register for an event, or for its waitlist; twice is once')
      .argument('<slug>', 'such as vibethon')
      .argument('<email>')
      .option('--name <name>', 'of the person')
      .option('--company <name>', 'where they come from')
      .option('--message <text>', 'a message to the team')
      .option('--news', 'consent to news by mail; a mail asks them to confirm it'),
  ).action(perform(register));
  withJson(
    VibethonRegistrationStatusResponseFields,
    events.command('status').description('The status of a registration').argument('<slug>', 'such as vibethon').argument('<email>'),
  ).action(perform(status));
  withJson(
    VibethonRegistrationStatusResponseFields,
    events.command('cancel').description('Cancel a registration, by the link in its mail').argument('<link>', 'the link, or its token'),
  ).action(perform(cancel));
  const checkout = events
    .command('checkout')
    .description('Pay for the held place: opens the page in a browser, and waits for the result')
    .argument('<slug>', 'such as vibethon')
    .option('--email <address>', 'the registered address, if it is not your own');
  for (const option of pageOptions()) checkout.addOption(option);
  withJson(PlanCheckoutStateFields, checkout).action(perform(pay));
}

async function register(world: CommandWorld, { args: [slug = '', email = ''], options }: Typed<RegisterOptions>): Promise<void> {
  const client = await world.connect('none');
  const { name, company, message, news } = options;
  const request = { email, name, company, message, marketing_consent: news };
  printRecord(world, await client.events.register(slug, request, { signal: world.signal }), LINES);
}

async function status(world: CommandWorld, { args: [slug = '', email = ''] }: Typed<object>): Promise<void> {
  const client = await world.connect('none');
  printRecord(world, await client.events.registrationStatus(slug, email, { signal: world.signal }), LINES);
}

async function cancel(world: CommandWorld, { args: [link = ''] }: Typed<object>): Promise<void> {
  const client = await world.connect('none');
  const token = URL.canParse(link) ? (new URL(link).searchParams.get('token') ?? '') : link;
  printRecord(world, await client.events.cancelRegistration(token, { signal: world.signal }), LINES);
}

async function pay(world: CommandWorld, { args: [slug = ''], options }: Typed<CheckoutOptions>): Promise<ExitCode> {
  const client = await world.connect();
  const made = await client.events.checkout(slug, { email: options.email }, { signal: world.signal });
  if (made.checkout_id === null || made.status === 'not_required') {
    world.err.write('There is nothing to pay: the place is confirmed.\n');
    return EXIT.ok;
  }
  return payOnPage(world, client, { ...made, checkout_id: made.checkout_id, status: made.status }, options);
}
