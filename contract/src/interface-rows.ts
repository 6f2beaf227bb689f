/**
 * The endpoint tables of the interface specification (4.1 to 4.7) as data, a row each.
 * Answers: `KeyResponse[]` is an array, `A | B` either record, `object` free-form, `*` not stated.
 */
export interface InterfaceRow {
  readonly method: string;
  readonly path: string;
  readonly auth: AuthClass;
  readonly request: string | undefined;
  readonly status: number;
  /** Empty where the answer has no body. */
  readonly answer: string;
  /** Query parameters; one that is required ends in `!`. */
  readonly query: readonly string[];
}

/**
 * `A`: bearer and x-api-key, x-internal-secret, x-web-session-token. `B`: bearer and the latter two. `S`: x-internal-secret only.
 * `event`: bearer and x-event-email. `inference`: bearer and the three headers of inference calls. `*`: not stated.
 */
export type AuthClass = 'none' | 'A' | 'B' | 'S' | 'event' | 'inference' | '*';

export const INTERFACE_ROWS: readonly InterfaceRow[] = [
  // 4.1 Root and users
  row('GET /', 'none', undefined, '200 object'),
  row('GET /v1/users/me', 'A', undefined, '200 UserResponse'),
  row('POST /v1/users/login', 'none', 'LoginRequest', '200 UserResponse | LoginMfaRequiredResponse'),
  row('POST /v1/users/login/mfa', 'none', 'LoginMfaRequest', '200 UserResponse'),
  row('GET /v1/users/mfa/status', 'A', undefined, '200 MfaStatusResponse'),
  row('POST /v1/users/mfa/begin', 'A', undefined, '200 MfaBeginResponse'),
  row('POST /v1/users/mfa/confirm', 'A', 'MfaVerifyRequest', '200 MfaStatusResponse'),
  row('POST /v1/users/mfa/disable', 'A', 'MfaDisableRequest', '200 MfaStatusResponse'),
  row('POST /v1/users', 'S', 'CreateUserRequest', '201 UserResponse'),

  // 4.2 API keys and budgets
  row('POST /v1/keys', 'B', 'CreateKeyRequest', '201 KeyCreatedResponse'),
  row('GET /v1/keys', 'A', undefined, '200 KeyResponse[]'),
  row('GET /v1/keys/budget-summary', 'A', undefined, '200 KeyBudgetSummaryResponse'),
  row('GET /v1/keys/{key_id}', 'A', undefined, '200 KeyResponse'),
  row('DELETE /v1/keys/{key_id}', 'A', undefined, '204'),
  row('POST /v1/keys/{key_id}/rotate', 'A', undefined, '200 KeyCreatedResponse'),
  row('GET /v1/keys/{key_id}/budget', 'A', undefined, '200 KeyBudgetStatusResponse'),
  row('PATCH /v1/keys/{key_id}/budget', 'A', 'KeyBudgetUpdateRequest', '200 KeyBudgetStatusResponse'),
  row('GET /v1/keys/{key_id}/budget/history', 'A', undefined, '200 KeyBudgetHistoryResponse'),
  row('GET /v1/keys/{key_id}/budget/alerts', 'A', undefined, '200 KeyBudgetAlertHistoryResponse'),

  // 4.3 Beta and Vibethon event
  row('POST /v1/beta/invite/activate', 'none', 'BetaInviteActivateRequest', '201 BetaInviteActivationResponse'),
  row('GET /v1/events/vibethon', 'none', undefined, '200 VibethonEventResponse'),
  row('POST /v1/events/vibethon/register', 'none', 'VibethonRegistrationRequest', '201 VibethonRegistrationResponse'),
  row('GET /v1/events/vibethon/registration-status', 'none', undefined, '200 VibethonRegistrationStatusResponse', ['email!']),
  row('POST /v1/events/vibethon/checkout', 'event', 'VibethonCheckoutRequest', '200 VibethonCheckoutResponse'),

  // 4.4 Site events
  row('GET /v1/events', 'none', undefined, '200 SiteEventResponse[]'),
  row('GET /v1/events/{slug}', 'none', undefined, '200 SiteEventResponse'),
  row('GET /v1/events/admin', 'A', undefined, '200 SiteEventResponse[]'),
  row('POST /v1/events/admin', 'A', 'SiteEventCreateRequest', '201 SiteEventResponse'),
  row('PATCH /v1/events/admin/{event_id}', 'A', 'SiteEventUpdateRequest', '200 SiteEventResponse'),
  row('POST /v1/events/admin/{event_id}/publish', 'A', undefined, '200 SiteEventResponse'),
  row('POST /v1/events/admin/{event_id}/archive', 'A', undefined, '200 SiteEventResponse'),
  row('GET /v1/events/admin/registrations', 'A', undefined, '200 VibethonRegistrationResponse[]'),
  row(
    'PATCH /v1/events/admin/registrations/{registration_id}',
    'A',
    'VibethonRegistrationAdminUpdateRequest',
    '200 VibethonRegistrationResponse',
  ),
  row('POST /v1/events/admin/invite-batches', 'A', 'MarketingInviteBatchRequest', '201 MarketingInviteBatchResponse'),

  // 4.5 Marketing workspace
  row('GET /v1/marketing/people', 'A', undefined, '200 MarketingPeopleListResponse', [
    ...['q', 'status', 'source', 'event_slug', 'owner', 'client_type', 'plan_tier'],
    ...['limit', 'offset'],
  ]),
  row('GET /v1/marketing/people/{person_id}', 'A', undefined, '200 MarketingPeopleListResponse'),
  row('POST /v1/marketing/people/{person_id}/actions', 'A', 'MarketingPeopleActionRequest', '200 MarketingPeopleActionResponse'),
  row('POST /v1/marketing/emails/send', 'A', 'MarketingEmailSendRequest', '200 MarketingEmailSendResponse'),
  row('GET /v1/marketing/events', 'A', undefined, '200 MarketingEventListResponse'),
  row('GET /v1/marketing/events/{slug}', 'A', undefined, '200 MarketingEventRecord'),
  row('GET /v1/marketing/events/{slug}/registrations', 'A', undefined, '200 MarketingEventRegistrationListResponse'),
  row(
    'PATCH /v1/marketing/event-registrations/{registration_id}',
    'A',
    'MarketingEventRegistrationUpdateRequest',
    '200 MarketingEventRegistrationRecord',
  ),
  row('POST /v1/marketing/events/{slug}/publish', 'A', undefined, '200 MarketingEventRecord'),
  row('POST /v1/marketing/events/{slug}/unpublish', 'A', undefined, '200 MarketingEventRecord'),
  row('GET /v1/marketing/client-requests', 'A', undefined, '200 MarketingClientRequestListResponse', ['status', 'type']),
  row('PATCH /v1/marketing/client-requests/{request_id}', 'A', 'MarketingClientRequestUpdateRequest', '200 MarketingClientRequestRecord'),
  row('GET /v1/marketing/content', 'A', undefined, '200 MarketingContentListResponse', ['type']),
  row('POST /v1/marketing/content/{content_id}/publish', 'A', undefined, '200 MarketingContentRecord'),
  row('POST /v1/marketing/content/{content_id}/unpublish', 'A', undefined, '200 MarketingContentRecord'),

  // 4.6 Plans and billing
  row('GET /v1/plans/config', 'none', undefined, '200 PlanConfigResponse[]'),
  row('GET /v1/plans/current', 'A', undefined, '200 CurrentPlanResponse'),
  row('GET /v1/plans/entitlements', 'A', undefined, '200 PlanEntitlementsResponse'),
  row('GET /v1/plans/entitlements/matrix', 'A', undefined, '200 PlanEntitlementMatrixResponse'),
  row('GET /v1/plans/usage', 'A', undefined, '200 PlanUsageQuotaResponse'),
  row('GET /v1/plans/billing-summary', 'A', undefined, '200 PlanBillingSummaryResponse'),
  row('POST /v1/plans/upgrade-preview', 'A', 'PlanUpgradePreviewRequest', '200 PlanUpgradePreviewResponse'),
  row('POST /v1/plans/downgrade-preview', 'A', 'PlanDowngradePreviewRequest', '200 PlanDowngradePreviewResponse'),
  row('POST /v1/plans/downgrade-schedule', 'A', 'PlanDowngradeScheduleRequest', '200 PlanDowngradeScheduleResponse'),
  row(
    'POST /v1/plans/internal/apply-scheduled-downgrades',
    'S',
    'PlanScheduledDowngradeApplyRequest',
    '200 PlanScheduledDowngradeApplyResponse',
  ),
  row('GET /v1/plans/overage-estimate', 'A', undefined, '200 PlanOverageEstimateResponse'),
  row('POST /v1/plans/checkout', 'A', 'PlanCheckoutRequest', '200 PlanCheckoutResponse'),
  row('POST /v1/plans/balance-checkout', 'A', 'PlanBalanceCheckoutRequest', '200 PlanBalanceCheckoutResponse'),

  // 4.7 Inference and discovery; the sub-paths of images, audio and video are OpenAI's
  row('POST /v1/chat/completions', 'inference', '*', '200 *'),
  row('POST /v1/responses', 'inference', '*', '200 *'),
  row('POST /v1/embeddings', 'inference', '*', '200 *'),
  row('POST /v1/images/generations', 'inference', '*', '200 *'),
  row('POST /v1/audio/speech', 'inference', '*', '200 *'),
  row('POST /v1/audio/transcriptions', 'inference', '*', '200 *'),
  row('POST /v1/video/generations', 'inference', '*', '200 *'),
  row('GET /.well-known/agent.json', '*', undefined, '200 *'),
];

function row(endpoint: string, auth: AuthClass, request: string | undefined, success: string, query: readonly string[] = []): InterfaceRow {
  const [method = '', path = ''] = endpoint.split(' ');
  const [status = '', ...answer] = success.split(' ');
  return { method, path, auth, request, status: Number(status), answer: answer.join(' '), query };
}
