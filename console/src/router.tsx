import {
  createRootRoute,
  createRoute,
  createRouter,
  Link,
  lazyRouteComponent,
  Outlet,
  redirect,
  retainSearchParams,
} from '@tanstack/react-router';
import type { Returned } from './directory-sign-in.ts';
import { queryClient } from './query-client.ts';
import {
  auditSearch,
  emailSearch,
  keysSearch,
  kindSearch,
  modelsSearch,
  modeSearch,
  parseSearch,
  peopleSearch,
  requestFilter,
  statusSearch,
  stringifySearch,
  usageSearch,
} from './searches.ts';
import { fetchMe, ME } from './session.ts';
import { Shell } from './shell.tsx';
import { Loading, PageHead, PagePending } from './ui/parts.tsx';

const rootRoute = createRootRoute({ component: Outlet });

const NoSuchPage = () => (
  <PageHead title="There is no such page">
    <Link to="/">Go to the overview</Link>: the menu lists all pages.
  </PageHead>
);

interface SignInSearch extends Returned {
  /** Where to go once signed in: an address of the console. */
  readonly to?: string;
  /** Whether a session has ended while a page was open. */
  readonly ended?: 'yes';
}

const signInRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sign-in',
  validateSearch: ({ to, ended, code, state, error_description: failure }): SignInSearch => ({
    ...(typeof to === 'string' && /^\/(?!\/)/.test(to) && { to }),
    ...(ended === 'yes' && { ended }),
    ...(typeof code === 'string' && { code }),
    ...(typeof state === 'string' && { state }),
    ...(typeof failure === 'string' && { error_description: failure }),
  }),
  component: lazyRouteComponent(() => import('./pages/sign-in.tsx'), 'SignIn'),
});

/** Everything but the sign-in: asks first who is there. */
const frameRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'frame',
  component: Shell,
  // Nobody is known yet: there is no frame around it.
  errorComponent: ({ error }) => (
    <main className="sign-in">
      <PagePending error={error} />
    </main>
  ),
  validateSearch: modeSearch,
  search: { middlewares: [retainSearchParams(['mode'])] },
  async beforeLoad({ location }) {
    // Who is known is not waited for again: a session that ends is noticed by what is refused then.
    const me = queryClient.getQueryData(ME) ?? (await queryClient.fetchQuery({ queryKey: ME, queryFn: fetchMe }));
    if (me === null) throw redirect({ to: '/sign-in', search: { to: location.href } });
  },
});

const inFrame = { getParentRoute: () => frameRoute } as const;

const routeTree = rootRoute.addChildren([
  signInRoute,
  frameRoute.addChildren([
    createRoute({ ...inFrame, path: '/', component: lazyRouteComponent(() => import('./pages/overview.tsx'), 'Overview') }),
    createRoute({
      ...inFrame,
      path: '/requests',
      validateSearch: requestFilter,
      component: lazyRouteComponent(() => import('./pages/requests.tsx'), 'Requests'),
    }),
    createRoute({
      ...inFrame,
      path: '/requests/$requestId',
      component: lazyRouteComponent(() => import('./pages/request.tsx'), 'Request'),
    }),
    createRoute({ ...inFrame, path: '/runs', component: lazyRouteComponent(() => import('./pages/runs.tsx'), 'Runs') }),
    createRoute({ ...inFrame, path: '/runs/$runId', component: lazyRouteComponent(() => import('./pages/run.tsx'), 'RunPage') }),
    createRoute({
      ...inFrame,
      path: '/usage',
      validateSearch: usageSearch,
      component: lazyRouteComponent(() => import('./pages/usage.tsx'), 'UsagePage'),
    }),
    createRoute({
      ...inFrame,
      path: '/keys',
      validateSearch: keysSearch,
      component: lazyRouteComponent(() => import('./pages/keys.tsx'), 'Keys'),
    }),
    createRoute({
      ...inFrame,
      path: '/management-keys',
      component: lazyRouteComponent(() => import('./pages/management-keys.tsx'), 'ManagementKeysPage'),
    }),
    createRoute({
      ...inFrame,
      path: '/batches',
      validateSearch: kindSearch,
      component: lazyRouteComponent(() => import('./pages/batches.tsx'), 'BatchesPage'),
    }),
    createRoute({ ...inFrame, path: '/batches/$batchId', component: lazyRouteComponent(() => import('./pages/batch.tsx'), 'BatchPage') }),
    createRoute({
      ...inFrame,
      path: '/accounts',
      validateSearch: emailSearch,
      component: lazyRouteComponent(() => import('./pages/accounts.tsx'), 'AccountsPage'),
    }),
    createRoute({
      ...inFrame,
      path: '/accounts/$accountId',
      component: lazyRouteComponent(() => import('./pages/account.tsx'), 'AccountPage'),
    }),
    createRoute({ ...inFrame, path: '/keys/$keyId', component: lazyRouteComponent(() => import('./pages/key.tsx'), 'KeyPage') }),
    createRoute({ ...inFrame, path: '/limits', component: lazyRouteComponent(() => import('./pages/limits.tsx'), 'LimitsPage') }),
    createRoute({
      ...inFrame,
      path: '/projects/$projectId',
      component: lazyRouteComponent(() => import('./pages/project.tsx'), 'ProjectPage'),
    }),
    createRoute({ ...inFrame, path: '/team', component: lazyRouteComponent(() => import('./pages/team.tsx'), 'Team') }),
    createRoute({
      ...inFrame,
      path: '/models',
      validateSearch: modelsSearch,
      component: lazyRouteComponent(() => import('./pages/models.tsx'), 'ModelsPage'),
    }),
    createRoute({ ...inFrame, path: '/models/$modelId', component: lazyRouteComponent(() => import('./pages/model.tsx'), 'ModelPage') }),
    createRoute({
      ...inFrame,
      path: '/end-users',
      validateSearch: kindSearch,
      component: lazyRouteComponent(() => import('./pages/end-users.tsx'), 'EndUsers'),
    }),
    createRoute({
      ...inFrame,
      path: '/webhooks',
      validateSearch: kindSearch,
      component: lazyRouteComponent(() => import('./pages/webhooks.tsx'), 'Webhooks'),
    }),
    createRoute({
      ...inFrame,
      path: '/webhooks/$webhookId',
      component: lazyRouteComponent(() => import('./pages/webhook.tsx'), 'WebhookPage'),
    }),
    createRoute({ ...inFrame, path: '/providers', component: lazyRouteComponent(() => import('./pages/providers.tsx'), 'Providers') }),
    createRoute({ ...inFrame, path: '/log', component: lazyRouteComponent(() => import('./pages/log.tsx'), 'LogPage') }),
    createRoute({ ...inFrame, path: '/billing', component: lazyRouteComponent(() => import('./pages/billing.tsx'), 'Billing') }),
    createRoute({
      ...inFrame,
      path: '/people',
      validateSearch: peopleSearch,
      component: lazyRouteComponent(() => import('./pages/people.tsx'), 'PeoplePage'),
    }),
    createRoute({
      ...inFrame,
      path: '/people/import',
      component: lazyRouteComponent(() => import('./pages/import-people.tsx'), 'ImportPeople'),
    }),
    createRoute({
      ...inFrame,
      path: '/people/$personId',
      component: lazyRouteComponent(() => import('./pages/person.tsx'), 'PersonPage'),
    }),
    createRoute({
      ...inFrame,
      path: '/client-requests',
      validateSearch: statusSearch,
      component: lazyRouteComponent(() => import('./pages/client-requests.tsx'), 'ClientRequestsPage'),
    }),
    createRoute({ ...inFrame, path: '/emails', component: lazyRouteComponent(() => import('./pages/emails.tsx'), 'EmailsPage') }),
    createRoute({ ...inFrame, path: '/emails/$emailId', component: lazyRouteComponent(() => import('./pages/email.tsx'), 'EmailPage') }),
    createRoute({
      ...inFrame,
      path: '/email-templates',
      validateSearch: statusSearch,
      component: lazyRouteComponent(() => import('./pages/email-templates.tsx'), 'EmailTemplatesPage'),
    }),
    createRoute({ ...inFrame, path: '/events', component: lazyRouteComponent(() => import('./pages/events.tsx'), 'EventsPage') }),
    createRoute({ ...inFrame, path: '/events/$slug', component: lazyRouteComponent(() => import('./pages/event.tsx'), 'EventPage') }),
    createRoute({ ...inFrame, path: '/invites', component: lazyRouteComponent(() => import('./pages/invites.tsx'), 'InvitesPage') }),
    createRoute({ ...inFrame, path: '/content', component: lazyRouteComponent(() => import('./pages/content.tsx'), 'ContentPage') }),
    createRoute({ ...inFrame, path: '/bills/$month', component: lazyRouteComponent(() => import('./pages/bill.tsx'), 'BillPage') }),
    createRoute({
      ...inFrame,
      path: '/audit-log',
      validateSearch: auditSearch,
      component: lazyRouteComponent(() => import('./pages/audit-log.tsx'), 'AuditLogPage'),
    }),
    createRoute({
      ...inFrame,
      path: '/playground',
      validateSearch: ({ model, provider }: Record<string, unknown>): { readonly model?: string; readonly provider?: string } => ({
        ...(typeof model === 'string' && { model }),
        ...(typeof provider === 'string' && { provider }),
      }),
      component: lazyRouteComponent(() => import('./pages/playground.tsx'), 'Playground'),
    }),
    createRoute({ ...inFrame, path: '/settings', component: lazyRouteComponent(() => import('./pages/settings.tsx'), 'Settings') }),
    createRoute({ ...inFrame, path: '$', component: NoSuchPage }),
  ]),
]);

export const router = createRouter({
  routeTree,
  basepath: '/console',
  parseSearch,
  stringifySearch,
  defaultPreload: 'intent',
  defaultPendingComponent: Loading,
  defaultErrorComponent: ({ error }) => <PagePending error={error} />,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
