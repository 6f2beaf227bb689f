/** What a client may tell its user about a tool before it is called, where the method does not say it. */
export interface ToolEntry {
  readonly operationId: string;
  /** Runs a model, and so spends money. */
  readonly spends?: true;
  /** Computes an answer and changes nothing, although it is a POST. */
  readonly isReadOnly?: true;
  /** Ends or takes away what cannot be had back. */
  readonly isDestructive?: true;
}

const reads = (...operationIds: string[]): ToolEntry[] => operationIds.map((operationId) => ({ operationId }));

/** The operations of the contract that are tools. All else of a tool follows from the operation. */
export const TOOL_TABLE: readonly ToolEntry[] = [
  ...reads('listModels', 'getModel'),
  { operationId: 'createChatCompletion', spends: true },
  { operationId: 'createEmbedding', spends: true },
  { operationId: 'createImage', spends: true },
  { operationId: 'createFile' },
  ...reads('listFiles', 'getFile', 'downloadFile'),
  { operationId: 'deleteFile', isDestructive: true },
  { operationId: 'createBatch', spends: true },
  ...reads('listBatches', 'getBatch'),
  { operationId: 'cancelBatch', isDestructive: true },
  ...reads('getUsage', 'getRequest'),
  ...reads('listKeys', 'getBudgetSummary', 'getKeyBudget', 'listKeyBudgetChanges', 'listKeyBudgetAlerts'),
  { operationId: 'updateKeyBudget', isDestructive: true },
  ...reads('listPlans', 'getCurrentPlan', 'getEntitlements', 'getPlanUsage', 'getBillingSummary', 'getOverageEstimate', 'listInvoices'),
  { operationId: 'previewUpgrade', isReadOnly: true },
  { operationId: 'previewDowngrade', isReadOnly: true },
  { operationId: 'scheduleDowngrade' },
  { operationId: 'cancelDowngrade' },
  { operationId: 'checkoutPlan' },
  { operationId: 'checkoutBalance' },
  ...reads('listRuns', 'getRun'),
  { operationId: 'closeRun', isDestructive: true },
  ...reads('getReceipt', 'getReceiptProof', 'getLogCheckpoint', 'getLogConsistency', 'getVaasKeys'),
];
