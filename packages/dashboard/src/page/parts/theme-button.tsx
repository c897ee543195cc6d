import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { readTheme, writeTheme } from '../browser.ts'

const THEMES = [undefined, 'light', 'dark'] as const

/** Goes through the theme of the system, light and dark. */
export function ThemeButton(): JSX.Element {
  const [theme, setTheme] = useState(readTheme())
  const next = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length]
  return (
    <button
      type="button"
      class="small"
      title="Theme: as the system, light, dark"
      onClick={() => {
        writeTheme(next)
        setTheme(next)
      }}
    >
      {theme === undefined ? 'Auto' : theme === 'light' ? 'Light' : 'Dark'}
      <span class="offscreen"> theme</span>
    </button>
  )
}
