import { useId } from 'react';

interface TextAreaProps {
  readonly name: string;
  readonly label: string;
  readonly hint?: string;
  readonly defaultValue?: string;
  readonly isRequired?: boolean;
  readonly rows?: number;
}

export function TextArea({ name, label, hint, defaultValue, isRequired = false, rows = 6 }: TextAreaProps) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <textarea
        id={id}
        name={name}
        rows={rows}
        required={isRequired}
        defaultValue={defaultValue}
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
      />
      {hint !== undefined && (
        <p id={`${id}-hint`} className="hint">
          {hint}
        </p>
      )}
    </div>
  );
}
