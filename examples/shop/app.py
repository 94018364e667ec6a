"""The shop's own code: customers, prices, and whether a card can be real. Nothing here talks to a network."""

from __future__ import annotations

import re
from typing import Any

from dialoom.flows import Application, Proposal, Reading

app = Application()

CUSTOMERS = {"c-17": {"name": "Ada", "favourite": "large Margherita"}}
PRICES = {"small": 8.0, "medium": 10.0, "large": 12.0, "": 7.0}
EXTRA = 1.5
ALLERGENS = {
    "Pepperoni": "gluten and milk",
    "Margherita": "gluten and milk",
    "Veggie": "gluten, milk and celery",
    "Caesar": "egg, fish and milk",
    "Greek": "milk",
    "Garden": "no allergens that we know of",
}


@app.function
def find_customer(customer: str | None) -> dict[str, str | None]:
    return dict(CUSTOMERS.get(customer or "", {"name": None, "favourite": None}))


@app.function
def special_offer(weekday: str) -> str:
    return "On Tuesdays a large pizza is two dollars less." if weekday == "Tuesday" else ""


@app.function
def price_of(basket: list[dict[str, Any]], offer: str | None) -> float:
    total = 0.0
    for entry in basket:
        dressed = [extra for extra in entry["extras"] if not extra.endswith("dressing")]
        total += PRICES[entry["size"]] + EXTRA * len(dressed)
        if offer and entry["size"] == "large":
            total -= 2.0
    return total


@app.function
def allergens_of(dish: str) -> str:
    return ALLERGENS[dish]


@app.function
def charge_card(card: str, amount: float, idempotency_key: str) -> str:
    if card.endswith("0002"):
        raise RuntimeError("the bank declined")
    return f"R-{amount:.0f}-{idempotency_key[-6:]}"


@app.recogniser
def card_number(text: str) -> Reading | None:
    digits = re.search(r"\d{4}(?:[ -]?\d{4}){1,3}(?:[ -]?\d{1,3})?(?![\d/])", text)
    return Reading(re.sub(r"\D", "", digits.group()), *digits.span()) if digits else None


@app.constraint
def card_plausible(_: Proposal, card: str | None, expiry: str | None, today: str) -> str | None:
    """The Luhn sum of the number, and an expiry that is not past."""
    if card and sum(map(int, _luhn(card))) % 10:
        return "This card number cannot be right. Please check it."
    if expiry and f"20{expiry[3:]}-{expiry[:2]}" < today:
        return "This card has expired. Please use another one."
    return None


def _luhn(number: str) -> str:
    return "".join(str(int(digit) * (1 + place % 2)) for place, digit in enumerate(reversed(number)))
