import { type DeliveryOrder, IPN_TIMINGS, PAYMENT_OUTCOMES } from '../../contract/vocabulary.ts';

/** English is the default. */
export type Language = 'en' | 'fr';

type Pair = readonly [en: string, fr: string];
interface Texts {
  readonly [name: string]: Pair | Texts;
}
type In<All> = { readonly [Name in keyof All]: All[Name] extends Pair ? string : In<All[Name]> };

/**
 * Every text on the pages, in English and in French. A text about a field uses the field's label. Names in braces are
 * placeholders.
 */
const TEXTS = {
  /** Follows the emulator's name. */
  mark: [': local emulator, no real money', '\u00a0: émulateur local, argent fictif'],
  testMode: ['Test mode', 'Mode test'],
  merchant: ['this merchant', 'ce marchand'],
  pay: ['Pay {merchant}', 'Payer {merchant}'],
  payTitle: ['Pay {amount} to {merchant}', 'Payer {amount} à {merchant}'],
  errorTitle: ['Error: {title}', 'Erreur\u00a0: {title}'],
  facts: {
    label: ['About this payment', 'Ce paiement'],
    details: ['For', 'Objet'],
    identifier: ['Reference', 'Référence'],
    email: ['Paying as', 'Vous payez avec'],
    trx: ['Transaction', 'Transaction'],
    date: ['Date', 'Date'],
    payer: ['Paid by', 'Payé par'],
  },
  step: { email: ['Step 1 of 2', 'Étape 1 sur 2'], code: ['Step 2 of 2', 'Étape 2 sur 2'] },
  /** Headings differ from field labels, so a test that looks up a label finds only one element. */
  stepTitle: {
    email: ['Your e-mail', 'Votre e-mail'],
    code: ['Confirm the payment', 'Confirmez le paiement'],
  },
  label: { email: ['E-mail', 'E-mail'], code: ['Verification code', 'Code de vérification'] },
  /** What the customer enters, by mode. In the sandbox, the page appends the accepted value. */
  hint: {
    sandbox: { email: ['Pay with', 'Payez avec'], code: ['Use code', 'Utilisez le code'] },
    live: {
      email: [
        "Enter your wallet's e-mail. We will send a code to it, so that only you can pay.",
        'Saisissez l’e-mail de votre portefeuille. Nous y enverrons un code, afin que vous seul puissiez payer.',
      ],
      code: [
        'We sent a code to this address. It is valid for 10 minutes.',
        'Nous avons envoyé un code à cette adresse. Il est valable 10\u00a0minutes.',
      ],
    },
  },
  submit: { email: ['Continue', 'Continuer'], code: ['Pay {amount}', 'Payer {amount}'] },
  changeEmail: ['Change e-mail', 'Modifier l’e-mail'],
  resend: ['Send a new code', 'Envoyer un nouveau code'],
  resent: [
    'We sent a new code. The previous one is no longer valid.',
    'Nouveau code envoyé. L’ancien n’est plus valide.',
  ],
  cancel: ['Cancel', 'Annuler'],
  problems: {
    email_invalid: [
      'This e-mail is not valid. Enter an address like name@example.com.',
      'Cet e-mail n’est pas valide. Saisissez une adresse du type nom@example.com.',
    ],
    email_not_test: [
      'This e-mail is not the test address. Test mode accepts only the one shown above.',
      'Cet e-mail n’est pas l’adresse de test. Le mode test n’accepte que l’adresse indiquée ci-dessus.',
    ],
    wallet_unknown: [
      'This e-mail has no wallet in this currency. Check it or enter another one.',
      'Cet e-mail ne correspond à aucun portefeuille dans cette devise. Vérifiez-le ou saisissez-en un autre.',
    ],
    balance_too_small: [
      'This e-mail belongs to a wallet with insufficient funds for this payment. Enter another one.',
      'Cet e-mail correspond à un portefeuille dont le solde est insuffisant pour ce paiement. Saisissez-en un autre.',
    ],
    code_wrong: [
      'The verification code is wrong. Check it and try again.',
      'Le code de vérification est incorrect. Vérifiez-le et réessayez.',
    ],
    code_spent: [
      'The verification code no longer works after too many wrong attempts. Request a new code and enter it.',
      'Le code de vérification n’est plus valide après trop de saisies incorrectes. Demandez un nouveau code et saisissez-le.',
    ],
    code_expired: [
      'The verification code has expired. Request a new code and enter it.',
      'Le code de vérification a expiré. Demandez un nouveau code et saisissez-le.',
    ],
  },
  /** A wallet can lose its funds between the steps. The visible field is then the code. */
  problemsAtCode: {
    wallet_unknown: [
      'The verification code is correct, but your wallet in this currency no longer exists. Change the e-mail to pay from another wallet.',
      'Le code de vérification est correct, mais votre portefeuille dans cette devise n’existe plus. Modifiez l’e-mail pour payer avec un autre portefeuille.',
    ],
    balance_too_small: [
      'The verification code is correct, but your wallet has insufficient funds for this payment. Change the e-mail to pay from another wallet.',
      'Le code de vérification est correct, mais le solde de votre portefeuille est insuffisant pour ce paiement. Modifiez l’e-mail pour payer avec un autre portefeuille.',
    ],
  },
  sandbox: {
    note: ['No wallet is charged.', 'Aucun portefeuille n’est débité.'],
    fill: {
      email: ['Use test e-mail', 'Utiliser l’e-mail de test'],
      code: ['Fill in test code', 'Saisir le code de test'],
    },
  },
  panel: {
    region: ['Simulator, not part of the page', 'Simulateur, ne fait pas partie de la page'],
    title: ['simulator', 'simulateur'],
    note: ['Not part of the page', 'Ne fait pas partie de la page'],
    delivery: ['IPN timing', 'Moment d’envoi de l’IPN'],
    timings: {
      'ipn-then-redirect': [IPN_TIMINGS['ipn-then-redirect'], 'IPN d’abord, puis redirection'],
      'redirect-then-ipn': [IPN_TIMINGS['redirect-then-ipn'], 'redirection d’abord, puis IPN'],
      'ipn-only': [IPN_TIMINGS['ipn-only'], 'IPN seule, sans redirection'],
      'redirect-only': [IPN_TIMINGS['redirect-only'], 'redirection seule, sans IPN'],
      'ipn-twice': [IPN_TIMINGS['ipn-twice'], 'IPN deux fois, puis redirection'],
    } satisfies Record<DeliveryOrder, Pair>,
    settle: [
      'Settle immediately, without the steps above',
      'Terminer immédiatement, sans les étapes ci-dessus',
    ],
    outcomes: {
      approve: [PAYMENT_OUTCOMES.approve.label, 'Approuver'],
      cancel: [PAYMENT_OUTCOMES.cancel.label, 'Annuler'],
      fail: [PAYMENT_OUTCOMES.fail.label, 'Faire échouer'],
      expire: [PAYMENT_OUTCOMES.expire.label, 'Faire expirer'],
    },
    dashboard: ['Open in the dashboard', 'Ouvrir dans le tableau de bord'],
  },
  /** The emulator's tips below a live checkout. The page adds commands and addresses before or after them. */
  tip: {
    wallet: ['can pay this. All wallets:', 'peut payer. Tous les portefeuilles\u00a0:'],
    noWallet: [
      'No wallet can pay this. Fund one with',
      'Aucun portefeuille ne peut payer. Pour en approvisionner un\u00a0:',
    ],
    codeIs: ['No e-mail was sent. The code is', 'Aucun e-mail n’a été envoyé. Le code est'],
    alsoIn: ['also in the', 'également dans la'],
    enter: ['Enter this code', 'Saisir ce code'],
    code: ['No e-mail was sent. Read the code with', 'Aucun e-mail n’a été envoyé. Lisez le code avec'],
    orIn: ['or in the', 'ou dans la'],
    inbox: ['inbox', 'boîte de réception'],
  },
  closed: {
    title: {
      pending: ['Payment pending', 'Paiement en attente'],
      succeeded: ['Payment complete', 'Paiement effectué'],
      canceled: ['Payment canceled', 'Paiement annulé'],
      failed: ['Payment failed', 'Échec du paiement'],
      expired: ['Payment expired', 'Paiement expiré'],
      unknown: ['Payment not found', 'Paiement introuvable'],
    },
    text: {
      pending: [
        'This payment to {merchant} is still pending.',
        'Ce paiement à {merchant} est toujours en attente.',
      ],
      succeeded: [
        'This payment to {merchant} is complete. You will not be charged again.',
        'Ce paiement à {merchant} a été effectué. Vous ne serez pas débité une seconde fois.',
      ],
      canceled: [
        'This payment was canceled. Nothing was charged.',
        'Ce paiement a été annulé. Rien n’a été débité.',
      ],
      failed: ['This payment failed. Nothing was charged.', 'Ce paiement a échoué. Rien n’a été débité.'],
      expired: [
        'The time to pay has run out. Nothing was charged.',
        'Le délai de paiement est écoulé. Rien n’a été débité.',
      ],
      unknown: [
        'There is no payment at this address. Check the link, or go back to the shop and start again.',
        'Il n’y a pas de paiement à cette adresse. Vérifiez le lien ou retournez à la boutique et recommencez.',
      ],
    },
    back: ['Back to {merchant}', 'Retour à {merchant}'],
  },
  refused: {
    title: ['Something went wrong', 'Une erreur s’est produite'],
    text: [
      'Nothing was charged. Go back to the payment and try again.',
      'Rien n’a été débité. Revenez au paiement et réessayez.',
    ],
    back: ['Back to the payment', 'Retour au paiement'],
  },
  thanks: {
    paid: {
      title: ['Thank you for your payment', 'Merci de votre paiement'],
      text: [
        'A real merchant would confirm the order here.',
        'Un vrai marchand confirmerait la commande ici.',
      ],
    },
    canceled: {
      title: ['Payment canceled', 'Paiement annulé'],
      text: [
        'A real merchant would show the cart again here.',
        'Un vrai marchand afficherait de nouveau le panier ici.',
      ],
    },
  },
  nowhere: {
    title: ['There is nothing here', 'Il n’y a rien ici'],
    home: ['Open the dashboard', 'Ouvrir le tableau de bord'],
  },
  /** The page appends the command that printed the token to `text` and `wrong`. */
  token: {
    title: ['Control token', 'Jeton de contrôle'],
    text: [
      'Other machines can reach this emulator, so its dashboard asks once for the control token. It was printed by',
      'D’autres machines peuvent accéder à cet émulateur. Son tableau de bord demande donc une fois le jeton de contrôle, affiché par',
    ],
    open: ['Open the dashboard', 'Ouvrir le tableau de bord'],
    wrong: [
      'The control token is wrong. Copy the one that was printed by',
      'Le jeton de contrôle est incorrect. Copiez celui qui a été affiché par',
    ],
  },
} as const satisfies Texts;

export type Wording = In<typeof TEXTS>;

function inLanguage(language: 0 | 1): Wording {
  return JSON.parse(JSON.stringify(TEXTS), (_, one) => (Array.isArray(one) ? one[language] : one));
}

export const WORDING: Readonly<Record<Language, Wording>> = { en: inLanguage(0), fr: inLanguage(1) };

/** Replaces the placeholders in a text. */
export function fill(text: string, values: Readonly<Record<string, string>>): string {
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole);
}
