import type { JSX } from 'preact'
import { GO_KEYS } from '../logic/key-sequence.ts'
import { Dialog } from '../parts/dialog.tsx'

const KEYS: readonly (readonly [keys: readonly string[], text: string])[] = [
  [['/'], 'Filter the list'],
  [['j'], 'Next row, as ↓'],
  [['k'], 'Previous row, as ↑'],
  [['Enter'], 'Open the row'],
  [['Esc'], 'Close details, clear the filter'],
  [['r'], 'Read the object again'],
  [['?'], 'These keys'],
]

export function KeysHelp({ onClose }: { readonly onClose: () => void }): JSX.Element {
  const go = Object.entries(GO_KEYS).map(([key, { title }]) => [['g', key], `Go to ${title}`] as const)
  return (
    <Dialog title="Keys" onClose={onClose}>
      <dl class="keys">
        {[...KEYS, ...go].map(([keys, text]) => (
          <div key={text}>
            <dt>
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  )
}
