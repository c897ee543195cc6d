import fc from 'fast-check'
import { hostileText } from '../../packages/databases/src/engines/settings.testing.ts'
import { readSettings, type SettingsFormat } from '../../packages/databases/src/engines/settings.ts'

/** Texts that try to leave their place and that the format accepts as values. */
export function hostileValues(format: SettingsFormat, count: number): readonly string[] {
  const typical = `'"\\#;=$(id) \`id\` \\' \\" \\\\ '' port = 1 \\n \\x0a %s ä 😀 !include /x [mysqld] --`
  const sampled = fc.sample(hostileText, { numRuns: count * 5, seed: 16 })
  const accepted = sampled.filter(
    // Servers trim values, or refuse empty ones.
    (text) =>
      text.trim() === text && text.length > 3 && text.length < 900 && 'settings' in readSettings({ x: text }, format),
  )
  return [typical, ...accepted.slice(0, count - 1)]
}
