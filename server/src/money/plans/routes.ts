import type { contract } from '@tallygate/contract';
import type { Handlers } from '../../http/index.ts';
import type { Clock } from '../../kernel/clock.ts';
import { changeRoutes } from './change-routes.ts';
import { checkoutRoutes } from './checkout-routes.ts';
import { paymentRoutes } from './payment-routes.ts';
import { createPlanViews, type PlanModes } from './plan-views.ts';
import { spendingRoutes } from './spending-routes.ts';
import { standingRoutes } from './standing-routes.ts';

export type { PlanModes } from './plan-views.ts';

export function planRoutes(modes: PlanModes, clock: Clock): Handlers<typeof contract.plans> {
  const views = createPlanViews(modes, clock);
  return {
    ...standingRoutes(modes, views, clock),
    ...changeRoutes(modes.paying, views, clock),
    ...checkoutRoutes(modes.paying),
    ...paymentRoutes(modes, views),
    ...spendingRoutes(modes),
  };
}
