import type { Form } from './form.ts';
import type { FakePortalSession } from './records.ts';
import type { World } from './world.ts';

/** A link to the customer's own page; it is the id that lets in. */
export function createPortalSession(world: World, form: Form): FakePortalSession {
  const customer = world.find('customer', form.required('customer'), 'customer');
  const id = world.id('bps');
  form.text('configuration');
  return world.put('billing_portal.session', {
    id,
    object: 'billing_portal.session',
    configuration: 'bpc_fake',
    created: world.now(),
    customer: customer.id,
    customer_account: null,
    flow: null,
    livemode: false,
    locale: null,
    on_behalf_of: null,
    return_url: form.text('return_url') ?? null,
    url: `${world.baseUrl}/portal/${id}`,
  });
}
