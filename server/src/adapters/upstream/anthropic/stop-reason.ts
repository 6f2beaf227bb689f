/** OpenAI's word for why an answer ended. `pause_turn` comes of tools that run at Anthropic, which nobody is offered here. */
export function finishReasonOf(stopReason: unknown): string {
  switch (stopReason) {
    case 'max_tokens':
    case 'model_context_window_exceeded':
      return 'length';
    case 'tool_use':
      return 'tool_calls';
    case 'refusal':
      return 'content_filter';
    default:
      return 'stop';
  }
}
