import { type FormEvent, type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { messageOf } from '../query-client.ts';

interface DialogProps {
  readonly title: string;
  readonly children: ReactNode;
  readonly onClose: () => void;
}

/** The browser's own modal dialog: focus stays in it, Escape closes it. */
export function Dialog({ title, children, onClose }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useId();
  useEffect(() => {
    dialog.current?.showModal();
  }, []);
  return (
    <dialog ref={dialog} onClose={onClose} aria-labelledby={heading}>
      <h2 id={heading}>{title}</h2>
      {children}
    </dialog>
  );
}

interface FormProps {
  /** On the button. */
  readonly action: string;
  readonly isDangerous?: boolean;
  readonly children: ReactNode;
  readonly onCancel?: () => void;
  /** What it throws is shown above the button, and what was typed stays. */
  readonly onSubmit: (fields: FormData) => Promise<void>;
}

export function Form({ action, isDangerous = false, children, onCancel, onSubmit }: FormProps) {
  const [failure, setFailure] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const submit = async (event: FormEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    setFailure(undefined);
    try {
      await onSubmit(new FormData(event.currentTarget));
    } catch (error) {
      setFailure(messageOf(error));
    } finally {
      setBusy(false);
    }
  };
  return (
    <form onSubmit={(event) => void submit(event)}>
      {children}
      {failure !== undefined && (
        <p className="failure" role="alert">
          {failure}
        </p>
      )}
      <div className="form-actions">
        {onCancel && (
          <button type="button" onClick={onCancel}>
            Cancel
          </button>
        )}
        <button type="submit" className={isDangerous ? 'danger' : 'primary'} disabled={isBusy} aria-busy={isBusy}>
          {action}
        </button>
      </div>
    </form>
  );
}

interface FieldProps {
  readonly name: string;
  readonly label: string;
  readonly hint?: string;
  readonly type?: string;
  readonly defaultValue?: string;
  readonly placeholder?: string;
  readonly isRequired?: boolean;
  readonly autoComplete?: string;
  readonly inputMode?: 'decimal' | 'numeric';
  /** The id of a list of suggestions. */
  readonly list?: string;
}

export function Field({ name, label, hint, isRequired = false, ...rest }: FieldProps) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <input id={id} name={name} required={isRequired} aria-describedby={hint === undefined ? undefined : `${id}-hint`} {...rest} />
      {hint !== undefined && (
        <p id={`${id}-hint`} className="hint">
          {hint}
        </p>
      )}
    </div>
  );
}

interface SelectProps {
  readonly name: string;
  readonly label: string;
  readonly options: readonly (readonly [value: string, label: string])[];
  readonly defaultValue?: string;
}

export function Select({ name, label, options, defaultValue }: SelectProps) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <select id={id} name={name} defaultValue={defaultValue}>
        {options.map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    </div>
  );
}

/** The trimmed value of a field; undefined where it is empty. */
export function given(fields: FormData, name: string): string | undefined {
  const value = fields.get(name);
  const text = typeof value === 'string' ? value.trim() : '';
  return text === '' ? undefined : text;
}

interface ConfirmProps {
  readonly title: string;
  /** What it does, and to what, by name. */
  readonly children: ReactNode;
  readonly action: string;
  readonly onConfirm: () => Promise<unknown>;
  readonly onClose: () => void;
}

/** Before what cannot be undone. */
export function Confirm({ title, children, action, onConfirm, onClose }: ConfirmProps) {
  const confirm = async (): Promise<void> => {
    await onConfirm();
    onClose();
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <Form action={action} isDangerous onCancel={onClose} onSubmit={confirm}>
        <p>{children}</p>
      </Form>
    </Dialog>
  );
}
