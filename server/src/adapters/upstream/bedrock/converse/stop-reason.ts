/** Converse's word for why an answer ended, in Anthropic's words. */
export function stopReasonOf(stopReason: unknown): string {
  switch (stopReason) {
    case 'guardrail_intervened':
    case 'content_filtered':
      return 'refusal';
    // The model's words were none that could be read as a call.
    case 'malformed_model_output':
    case 'malformed_tool_use':
      return 'end_turn';
    default:
      return typeof stopReason === 'string' ? stopReason : 'end_turn';
  }
}
