import type { Tallygate, UserResponse } from '@tallygate/sdk';
import type { CommandWorld } from '../command.ts';

/** Shows a code and waits until somebody has approved it in a browser, which may be on another computer. */
export async function logInByBrowser(
  world: CommandWorld,
  client: Tallygate,
  { opens }: { readonly opens: boolean },
): Promise<UserResponse> {
  const { env, err, signal } = world;
  const begun = await client.deviceLogins.begin({ client_name: `tallygate on ${env.hostName}`.slice(0, 80) }, { signal });
  const isOpen = opens && (await world.openPage(begun.verification_uri_complete));
  const page = isOpen
    ? `Your browser opens ${begun.verification_uri}. Compare this code`
    : `Open ${begun.verification_uri} and enter this code`;
  err.write(`${page}:\n\n  ${begun.user_code}\n\nWaiting for the approval, ${begun.expires_in / 60} minutes at most; Ctrl-C stops.\n`);
  return client.deviceLogins.wait(begun, { signal });
}
