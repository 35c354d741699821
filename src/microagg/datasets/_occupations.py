"""Forty occupations, coded as in ISCO-08: who has them, and what they pay."""

from typing import NamedTuple


class Occupation(NamedTuple):
    """A code, how common it is, its usual level of education (0 to 4), its pay (log) and its share of women."""

    code: str
    share: float
    level: float
    pay: float
    women: float


OCCUPATIONS = (
    Occupation("0110", 0.6, 3.2, 0.05, 0.10),  # officers of the armed forces; the code begins with a zero
    Occupation("1120", 0.8, 3.9, 0.65, 0.22),  # managing directors
    Occupation("1211", 1.2, 3.9, 0.45, 0.45),  # finance managers
    Occupation("1321", 1.3, 3.6, 0.40, 0.18),  # production managers
    Occupation("1411", 1.0, 3.1, 0.10, 0.42),  # hotel managers
    Occupation("2142", 1.8, 4.0, 0.35, 0.15),  # civil engineers
    Occupation("2211", 1.0, 4.0, 0.70, 0.50),  # physicians
    Occupation("2221", 2.4, 3.9, 0.12, 0.86),  # nurses, qualified
    Occupation("2310", 0.9, 4.0, 0.30, 0.45),  # university teachers
    Occupation("2330", 2.6, 4.0, 0.18, 0.62),  # secondary school teachers
    Occupation("2341", 2.6, 3.9, 0.05, 0.85),  # primary school teachers
    Occupation("2411", 2.2, 3.8, 0.28, 0.52),  # accountants
    Occupation("2512", 2.6, 3.8, 0.38, 0.18),  # software developers
    Occupation("2611", 0.6, 4.0, 0.45, 0.46),  # lawyers
    Occupation("3112", 2.4, 3.3, 0.15, 0.14),  # engineering technicians
    Occupation("3221", 1.9, 3.2, 0.00, 0.86),  # nurses, assistant
    Occupation("3313", 2.8, 3.3, 0.05, 0.75),  # bookkeepers
    Occupation("3322", 2.6, 3.2, 0.15, 0.36),  # sales representatives
    Occupation("3412", 1.9, 3.3, -0.05, 0.78),  # social workers
    Occupation("4110", 5.2, 2.9, -0.05, 0.78),  # office clerks
    Occupation("4221", 0.9, 2.9, -0.10, 0.70),  # travel consultants
    Occupation("4312", 1.6, 3.0, 0.05, 0.62),  # insurance clerks
    Occupation("4321", 2.2, 2.5, -0.08, 0.28),  # stock clerks
    Occupation("5120", 2.8, 2.3, -0.22, 0.45),  # cooks
    Occupation("5131", 2.8, 2.3, -0.32, 0.66),  # waiters
    Occupation("5141", 1.4, 2.6, -0.35, 0.88),  # hairdressers
    Occupation("5223", 6.0, 2.5, -0.22, 0.68),  # shop assistants
    Occupation("5311", 2.0, 2.7, -0.25, 0.94),  # child care workers
    Occupation("5412", 1.0, 3.1, 0.12, 0.20),  # police officers
    Occupation("6111", 1.6, 2.2, -0.30, 0.28),  # crop growers
    Occupation("6121", 1.4, 2.2, -0.30, 0.32),  # dairy farmers
    Occupation("7112", 2.6, 2.4, -0.02, 0.02),  # bricklayers
    Occupation("7231", 2.8, 2.6, 0.00, 0.03),  # motor mechanics
    Occupation("7411", 2.4, 2.8, 0.08, 0.03),  # electricians
    Occupation("7512", 1.0, 2.4, -0.18, 0.35),  # bakers
    Occupation("8160", 1.8, 2.0, -0.08, 0.35),  # food machine operators
    Occupation("8332", 3.2, 2.1, -0.05, 0.04),  # lorry drivers
    Occupation("9112", 4.2, 1.4, -0.42, 0.84),  # cleaners
    Occupation("9313", 1.8, 1.5, -0.20, 0.03),  # building labourers
    Occupation("9412", 1.8, 1.5, -0.38, 0.66),  # kitchen helpers
)

PUBLIC_SERVICE = ("0110", "5412")
"""Codes of those who are never self-employed."""
