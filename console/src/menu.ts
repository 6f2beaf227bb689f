import type { UserResponse } from '@tallygate/sdk';

/** A page in the menu and in the command palette. */
export interface MenuItem {
  readonly to: string;
  readonly label: string;
  /** Words that find it besides its name. */
  readonly words: string;
  /** Shown to administrators of the gateway alone. */
  readonly isForAdmin?: true;
}

export const MENU: readonly (readonly [group: string, items: readonly MenuItem[]])[] = [
  [
    'Activity',
    [
      { to: '/', label: 'Overview', words: 'home spend budget' },
      { to: '/requests', label: 'Requests', words: 'traces receipts log search' },
      { to: '/runs', label: 'Agent runs', words: 'ceiling stop' },
      { to: '/usage', label: 'Usage', words: 'cost tokens group export csv' },
      { to: '/playground', label: 'Playground', words: 'chat try test' },
    ],
  ],
  [
    'Control',
    [
      { to: '/keys', label: 'API keys', words: 'create rotate revoke cap' },
      { to: '/limits', label: 'Limits', words: 'caps lanes project member end user tag model' },
      { to: '/team', label: 'Team', words: 'members projects invitations roles' },
      { to: '/audit-log', label: 'Audit log', words: 'history who' },
    ],
  ],
  [
    'Gateway',
    [
      { to: '/models', label: 'Models and prices', words: 'catalogue' },
      { to: '/providers', label: 'Providers', words: 'deployments health circuit', isForAdmin: true },
      { to: '/log', label: 'Receipts log', words: 'checkpoint witness anchor verify' },
    ],
  ],
  [
    'Account',
    [
      { to: '/billing', label: 'Plan and invoices', words: 'payment quota' },
      { to: '/settings', label: 'Settings', words: 'profile password sessions second factor mfa' },
    ],
  ],
];

export const menuOf = ({ role }: Pick<UserResponse, 'role'>): typeof MENU =>
  MENU.map(([group, items]) => [group, items.filter(({ isForAdmin }) => isForAdmin !== true || role === 'admin')] as const);
