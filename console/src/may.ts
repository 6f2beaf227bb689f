import type { UserResponse } from '@tallygate/sdk';

type Who = Pick<UserResponse, 'role' | 'account_role'>;

/** What pages and buttons are shown by; the API decides in the end. */
export type Right =
  /** Models, with a session or keys of one's own. */
  | 'use models'
  | 'manage keys'
  | 'manage account'
  | 'pay'
  | 'read audit log'
  /** The account is closed by its owners alone. */
  | 'own account'
  /** Marketing, people, invitations, content: of the service, not of an account. */
  | 'market'
  | 'run the gateway';

const OF_ACCOUNT_ROLE: Readonly<Record<UserResponse['account_role'], readonly Right[]>> = {
  owner: ['use models', 'manage keys', 'manage account', 'pay', 'read audit log', 'own account'],
  admin: ['use models', 'manage keys', 'manage account', 'pay', 'read audit log'],
  billing: ['pay', 'read audit log'],
  developer: ['use models', 'manage keys'],
  viewer: [],
};
const OF_ROLE: Readonly<Record<UserResponse['role'], readonly Right[]>> = {
  member: [],
  marketing: ['market'],
  admin: ['market', 'run the gateway'],
};

/** Whether a person may, by their role in the account or that in the service. */
export const may = ({ role, account_role: accountRole }: Who, right: Right): boolean =>
  OF_ACCOUNT_ROLE[accountRole].includes(right) || OF_ROLE[role].includes(right);
