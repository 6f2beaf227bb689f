import type { UserResponse } from '@tallygate/sdk';
import { may, type Right } from './may.ts';

/** A page in the menu and in the command palette. */
export interface MenuItem {
  readonly to: string;
  readonly label: string;
  /** Words that find it besides its name. */
  readonly words: string;
  /** Shown to those who may; left out, to all. */
  readonly needs?: Right;
}

export const MENU: readonly (readonly [group: string, items: readonly MenuItem[]])[] = [
  [
    'Activity',
    [
      { to: '/', label: 'Overview', words: 'home spend budget latency' },
      { to: '/requests', label: 'Requests', words: 'traces receipts log search' },
      { to: '/runs', label: 'Agent runs', words: 'ceiling stop' },
      { to: '/usage', label: 'Usage', words: 'cost tokens group export csv' },
      { to: '/batches', label: 'Batches and files', words: 'jsonl upload download output', needs: 'use models' },
      { to: '/playground', label: 'Playground', words: 'chat try test', needs: 'use models' },
    ],
  ],
  [
    'Control',
    [
      { to: '/keys', label: 'API keys', words: 'create rotate revoke cap' },
      { to: '/management-keys', label: 'Management keys', words: 'terraform scim automation', needs: 'manage account' },
      { to: '/limits', label: 'Limits', words: 'caps lanes project member model' },
      { to: '/end-users', label: 'Tags and end users', words: 'customers spend limits features' },
      { to: '/team', label: 'Team', words: 'members projects invitations roles' },
      { to: '/webhooks', label: 'Webhooks', words: 'events deliveries replay slack teams' },
      { to: '/audit-log', label: 'Audit log', words: 'history who', needs: 'read audit log' },
    ],
  ],
  [
    'Gateway',
    [
      { to: '/models', label: 'Models and prices', words: 'catalogue history' },
      { to: '/providers', label: 'Providers', words: 'deployments health circuit test', needs: 'run the gateway' },
      { to: '/accounts', label: 'Accounts', words: 'customers users plan capacity refund', needs: 'run the gateway' },
      { to: '/log', label: 'Receipts log', words: 'checkpoint witness anchor verify' },
    ],
  ],
  [
    'Marketing',
    [
      { to: '/people', label: 'People', words: 'contacts crm unsubscribe erase export import csv', needs: 'market' },
      { to: '/client-requests', label: 'Client requests', words: 'contact form sales support', needs: 'market' },
      { to: '/emails', label: 'E-mails', words: 'newsletter send mail', needs: 'market' },
      { to: '/email-templates', label: 'Mail templates', words: 'email letter text preview test', needs: 'market' },
      { to: '/events', label: 'Events', words: 'registrations places waitlist', needs: 'market' },
      { to: '/invites', label: 'Invitations', words: 'beta codes trial', needs: 'run the gateway' },
      { to: '/content', label: 'Content', words: 'posts pages changelog publish', needs: 'market' },
    ],
  ],
  [
    'Account',
    [
      { to: '/billing', label: 'Plan and invoices', words: 'payment quota upgrade balance top up verify' },
      { to: '/settings', label: 'Settings', words: 'profile password sessions second factor mfa sso' },
    ],
  ],
];

export const menuOf = (who: Pick<UserResponse, 'role' | 'account_role'>): typeof MENU =>
  MENU.map(([group, items]) => [group, items.filter(({ needs }) => needs === undefined || may(who, needs))] as const).filter(
    ([, items]) => items.length > 0,
  );
