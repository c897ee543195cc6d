import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { TextField } from '../parts/fields.tsx'

interface SignInProps {
  /** Why the user has to sign in (again). */
  readonly problem: string | undefined
  readonly onSignIn: (token: string) => void
}

export function SignIn({ problem, onSignIn }: SignInProps): JSX.Element {
  const [token, setToken] = useState('')
  return (
    <main class="sign-in" id="main">
      <form
        class="card"
        onSubmit={(event) => {
          event.preventDefault()
          if (token.trim() !== '') onSignIn(token.trim())
        }}
      >
        <h1>Sign in to Tenure</h1>
        <p class="muted">
          With a bearer token that the Kubernetes API accepts, for example of{' '}
          <code>kubectl create token my-account</code>.
        </p>
        <TextField
          label="Bearer token"
          name="token"
          isSecret
          value={token}
          onChange={setToken}
          problem={problem}
          hint="It is kept in memory only: after a reload the page asks again."
        />
        <button type="submit" class="primary" disabled={token.trim() === ''}>
          Sign in
        </button>
      </form>
    </main>
  )
}
