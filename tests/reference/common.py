"""What the oracles share: distances, centroids, and the searches, spelt out."""

import math


def squared_distance(a, b):
    total = 0.0
    for x, y in zip(a, b, strict=True):
        total += (x - y) * (x - y)
    return total


def column_sums(records):
    return [math.fsum(column) for column in zip(*records, strict=True)]


def whole_centroid(records):
    return [total / len(records) for total in column_sums(records)]


def group_centroid(records, group):
    """Mean of a group as its first row plus the mean difference from it, members in row order."""
    rows = sorted(group)
    first = records[rows[0]]
    centroid = []
    for j, base in enumerate(first):
        total = 0.0
        for row in rows:
            total += records[row][j] - base
        centroid.append(base + total / len(rows))
    return centroid


def mean_in_order(records, rows):
    sums = [0.0] * len(records[0])
    for row in rows:
        sums = [total + x for total, x in zip(sums, records[row], strict=True)]
    return [total / len(rows) for total in sums]


def most_distant(records, rows):
    """The two records farthest from each other; of tied pairs the lexicographically lowest."""
    best, r, s = -1.0, None, None
    for at, i in enumerate(rows):
        for j in rows[at + 1 :]:
            distance = squared_distance(records[i], records[j])
            if distance > best:
                best, r, s = distance, i, j
    return r, s


class Rest:
    """The records in no group yet, with column sums that lose each record as it leaves."""

    def __init__(self, records):
        self.records = records
        self.rows = list(range(len(records)))
        self.sums = column_sums(records)

    def __len__(self):
        return len(self.rows)

    def centroid(self):
        return [total / len(self.rows) for total in self.sums]

    def take(self, row):
        self.rows.remove(row)
        self.sums = [total - x for total, x in zip(self.sums, self.records[row], strict=True)]

    def farthest(self, point):
        best, best_row = -1.0, None
        for row in self.rows:
            distance = squared_distance(self.records[row], point)
            if distance > best:
                best, best_row = distance, row
        return best_row

    def nearest(self, point, count):
        ranked = sorted(self.rows, key=lambda row: (squared_distance(self.records[row], point), row))
        return ranked[:count]

    def take_group(self, row, k):
        """Take a record and its k - 1 nearest, in joining order."""
        self.take(row)
        group = [row, *self.nearest(self.records[row], k - 1)]
        for member in group[1:]:
            self.take(member)
        return group


def nearest_group(records, groups, point):
    """The group with the nearest centroid; on ties the one that holds the lowest row."""
    ordered = sorted(groups, key=min)
    distances = [squared_distance(group_centroid(records, group), point) for group in ordered]
    return ordered[distances.index(min(distances))]


def place_each(records, groups, leftovers):
    """Leftovers go to the nearest group, in row order, as the groups stood before."""
    choices = [(nearest_group(records, groups, records[row]), row) for row in leftovers]
    for group, row in choices:
        group.append(row)


def place_together(records, groups, leftovers, centroid):
    nearest_group(records, groups, centroid).extend(leftovers)


def labels_of(groups, n):
    labels = [None] * n
    for number, group in enumerate(sorted(groups, key=min)):
        for row in group:
            labels[row] = number
    return labels
