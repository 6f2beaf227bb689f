import { type ReactNode, useState } from 'react';
import { Dialog } from './dialog.tsx';
import { Mono } from './parts.tsx';

interface SecretProps {
  readonly title: string;
  readonly secret: string;
  /** Beside the buttons. */
  readonly children?: ReactNode;
  readonly onClose: () => void;
}

/** What is shown once, with a button that copies it. */
export function Secret({ title, secret, children, onClose }: SecretProps) {
  const [isCopied, setCopied] = useState(false);
  // Browsers have no clipboard for pages over plain HTTP, but of the same machine.
  const { clipboard } = navigator as Partial<Pick<Navigator, 'clipboard'>>;
  const copy = async (): Promise<void> => {
    await clipboard?.writeText(secret);
    setCopied(true);
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <p>Store it now: it is not shown again.</p>
      <p className="secret">
        <Mono>{secret}</Mono>
      </p>
      <div className="form-actions">
        {clipboard && (
          <button type="button" onClick={() => void copy()}>
            {isCopied ? 'Copied' : 'Copy'}
          </button>
        )}
        {children}
        <button type="button" onClick={onClose}>
          Done
        </button>
      </div>
    </Dialog>
  );
}
